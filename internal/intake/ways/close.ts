import type { Middleware } from 'koa';
import { RequestError, type FieldError } from '../../kit/errors/request-error.ts';
import { closingEvents, endings } from '../../event/closing.ts';
import { recordedForm } from '../../event/event.ts';
import type { EventRequest } from '../../event/schema.ts';
import type { AuthenticatedState } from '../http/authenticate.ts';
import type { HttpStack } from '../http/http-stack.ts';
import { Intake, type Requests } from './intake.ts';
import type { JsonBody } from '../bodies/json-body.ts';
import type { BulkOptions } from './register-bulk.ts';

/**
 * `POST /v1/close/`: a person ends a run that will not end by itself. `ended` records an END,
 * `lost` an ERROR before it. Events are recorded all or none; a repeated request records nothing.
 */
export function closeRun(
  body: JsonBody,
  sendJson: HttpStack['sendJson'],
  options: BulkOptions,
): Middleware<AuthenticatedState> {
  return async (ctx) => {
    const intake = new Intake(ctx.state.organization, options);
    const checked = await body.read(ctx, (value) => intake.check(0, () => wanted(value, options)));
    const recorded = await intake.recordAll([checked]).catch(refuseOtherReason);
    sendJson(ctx, 201, JSON.stringify(recorded.map(recordedForm)));
  };
}

/** The key is derived from the run, so its caller knows of none. */
function refuseOtherReason(error: unknown): never {
  if (!(error instanceof RequestError) || error.code !== 'idempotency-key-reused') throw error;
  const detail = 'differs from the reason with which the run was closed';
  const faults = [{ pointer: '/reason', detail }];
  throw new RequestError(error.code, 'The run was closed with another reason; see errors.', faults);
}

function wanted(body: unknown, { validate }: BulkOptions): Requests {
  const requests = eventsOf(body, validate);
  const [{ automation_id, execution_id }] = requests;
  return { requests, key: ['close', automation_id.toLowerCase(), execution_id, ...requests.map(({ event }) => event)] };
}

/** @throws {RequestError} that lists every failing field. */
function eventsOf(body: unknown, validate: BulkOptions['validate']): [EventRequest, ...EventRequest[]] {
  const { automation_id, execution_id, as, reason } = Object(body) as Partial<Record<string, unknown>>;
  const faults: FieldError[] = [];
  const isKnown = endings.some((each) => each === as);
  if (!isKnown)
    faults.push({ pointer: '/as', detail: as === undefined ? 'is required' : `must be ${endings.join(' or ')}` });
  if (typeof reason !== 'string' || reason.trim() === '') faults.push({ pointer: '/reason', detail: 'must say why' });
  const run = { automation_id, execution_id } as Pick<EventRequest, 'automation_id' | 'execution_id'>;
  const ending = endings.find((each) => each === as) ?? 'ended';
  const events = closingEvents(run, ending, String(reason)).map((event) => checked(event, validate, faults));
  const [first, ...more] = events.filter((event) => event !== undefined);
  if (first === undefined || faults.length > 0) {
    const unique = new Map(faults.map((fault) => [JSON.stringify(fault), fault]));
    throw new RequestError('invalid-event', 'The body does not say how to close a run; see errors.', [
      ...unique.values(),
    ]);
  }
  return [first, ...more];
}

/** Returns the event if it is valid. Faults in its texts are faults of the request's reason. */
function checked(event: object, validate: BulkOptions['validate'], faults: FieldError[]): EventRequest | undefined {
  try {
    return validate(event);
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    const known = new Set(faults.map((fault) => ('pointer' in fault ? fault.pointer : '')));
    for (const fault of error.faults) {
      const named =
        'pointer' in fault && fault.pointer.endsWith('description') ? { ...fault, pointer: '/reason' } : fault;
      if (!('pointer' in named) || !known.has(named.pointer)) faults.push(named);
    }
    return undefined;
  }
}
