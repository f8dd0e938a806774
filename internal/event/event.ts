import { optionalFields, type OptionalTexts, type RecordedTexts } from './fields.ts';
import { isoTime } from './iso-time.ts';
import { timeOf } from './occurred-at.ts';
import type { RepeatKey } from './repeat-key.ts';
import type { EventKind, EventRequest } from './schema.ts';

/** An event as Runledger keeps it, with a text for each optional field. */
export interface AcceptedEvent extends EventIdentity, OptionalTexts {
  readonly organization: string;
  /** As the caller wrote it; comparisons ignore case. */
  readonly automationId: string;
  readonly executionId: string;
  readonly kind: EventKind;
  /** When it happened, in ms since the Unix epoch; absent if the caller did not say. */
  readonly occurredAt?: number;
  /** Its `sealOf`, made at ingest; absent if ingest makes none (LEDGER_DIGESTS). */
  readonly seal?: string;
}

/** The identity and the time that ingest gives an event. */
export interface EventIdentity {
  /** A UUIDv7 of `createdAt`. Within one process, (createdAt, id) is the order of acceptance. */
  readonly id: string;
  /** When ingest accepted the event, in ms since the Unix epoch. */
  readonly createdAt: number;
}

/**
 * Events that are recorded all or none, with the key that identifies a repeat: one event of a
 * caller, or all events that one foreign message becomes.
 */
export interface EventGroup {
  readonly events: readonly AcceptedEvent[];
  readonly key: RepeatKey | undefined;
  /**
   * The instants that the message names for its events, also those out of bounds, which no event
   * records. By them a repeat is the same message whenever it comes. Absent: the times recorded.
   */
  readonly instants?: readonly (string | undefined)[] | undefined;
  /** The message's name for the automation; absent if it only has an id. */
  readonly name?: string | undefined;
}

type Writable<T> = { -readonly [Name in keyof T]: T[Name] };

/**
 * Returns the event of a valid request: the known fields, copied by name. Assigning the texts in a
 * loop saves 6 % of ingest's CPU time over spreading them.
 */
export function acceptEvent(request: EventRequest, organization: string, identity: EventIdentity): AcceptedEvent {
  const event = {
    id: identity.id,
    organization,
    automationId: request.automation_id,
    executionId: request.execution_id,
    kind: request.event,
    createdAt: identity.createdAt,
  } as Writable<AcceptedEvent>;
  for (const field of optionalFields) event[field.property] = request[field.request] ?? request[field.recorded] ?? '';
  const occurredAt = timeOf(request.occurred_at ?? '');
  if (occurredAt !== undefined) event.occurredAt = occurredAt;
  return event;
}

/** The answer to a registered event (docs/report/events.md). */
export interface RecordedEvent extends RecordedTexts {
  automation: string;
  execution_id: string;
  type_of_event: EventKind;
  /** ISO 8601, UTC, milliseconds, trailing `Z`. */
  created_at: string;
}

/** The recorded form of an event: each field as the caller sent it. */
export function recordedForm(event: AcceptedEvent): RecordedEvent {
  const recorded = {
    automation: event.automationId,
    execution_id: event.executionId,
    type_of_event: event.kind,
  } as Writable<RecordedEvent>;
  for (const field of optionalFields) recorded[field.recorded] = event[field.property];
  recorded.created_at = isoTime(event.createdAt);
  return recorded;
}
