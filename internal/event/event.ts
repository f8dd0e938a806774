import type { EventKind, EventRequest } from './schema.ts';

/** An event as Runledger keeps it. Optional texts that were omitted are `''` (design, section 2). */
export interface AcceptedEvent {
  /** UUIDv7 whose time is `createdAt`: (createdAt, id) orders events as one process accepted them. */
  readonly id: string;
  readonly organization: string;
  /** As the caller wrote it; compared without regard to letter case. */
  readonly automationId: string;
  readonly executionId: string;
  readonly kind: EventKind;
  readonly description: string;
  readonly errorId: string;
  readonly errorDescription: string;
  /** When ingest accepted it, in ms since the Unix epoch. */
  readonly createdAt: number;
}

/** When and as what an event was accepted. */
export interface EventIdentity {
  readonly id: string;
  readonly createdAt: number;
}

/** The event that a valid request becomes. Copies the known fields by name and nothing else. */
export function acceptEvent(request: EventRequest, organization: string, identity: EventIdentity): AcceptedEvent {
  return {
    id: identity.id,
    organization,
    automationId: request.automation_id,
    executionId: request.execution_id,
    kind: request.event,
    description: request.description ?? '',
    errorId: request.error_id ?? '',
    errorDescription: request.error_description ?? '',
    createdAt: identity.createdAt,
  };
}

/** The answer to a registered event (spec, "Recorded event"). */
export interface RecordedEvent {
  automation: string;
  execution_id: string;
  type_of_event: EventKind;
  description: string;
  error_id: string;
  error_description_detail: string;
  /** ISO 8601, UTC, milliseconds, trailing `Z`. */
  created_at: string;
}

/** The recorded form of an event: the answer to its caller, field by field as it was sent. */
export function recordedForm(event: AcceptedEvent): RecordedEvent {
  return {
    automation: event.automationId,
    execution_id: event.executionId,
    type_of_event: event.kind,
    description: event.description,
    error_id: event.errorId,
    error_description_detail: event.errorDescription,
    created_at: new Date(event.createdAt).toISOString(),
  };
}
