import type { Context, Middleware } from 'koa';
import { recordedForm } from '../../event/event.ts';
import { requestFields, type EventRequest } from '../../event/schema.ts';
import { RequestError, type FieldError } from '../../kit/errors/request-error.ts';
import type { AuthenticatedState } from '../http/authenticate.ts';
import type { Bodies } from '../bodies/bodies.ts';
import { malformed } from '../bodies/body-errors.ts';
import type { HttpStack } from '../http/http-stack.ts';
import { callerKey, isBareKey } from './idempotency-key.ts';
import { inList, Intake, mostEvents, type IntakeOptions, type Requests } from './intake.ts';
import type { JsonBody } from '../bodies/json-body.ts';

/** Largest body, in bytes. */
export const bulkBodyLimit = 2 * 1_024 * 1_024;

export interface BulkOptions extends IntakeOptions {
  bodies: Bodies;
}

const keyPointer = '/idempotency_key';
const knownFields = new Set([...requestFields, 'idempotency_key']);

/**
 * `POST /v1/register/bulk/`: records many events, all or none. With `?partial=true` it records
 * those that it can, and answers 207 with the others.
 */
export function registerBulk(
  body: JsonBody,
  sendJson: HttpStack['sendJson'],
  options: BulkOptions,
): Middleware<AuthenticatedState> {
  return async (ctx) => {
    const intake = new Intake(ctx.state.organization, options, { pointerOf: inList, key: keyPointer });
    const checked = await body.readList(ctx, {
      requireCount: requireOneToMost,
      each: (value, index) => intake.check(index, () => requestsOf(value, index, intake, options)),
    });
    refuseHeaderKey(ctx);
    const partial = isPartial(ctx);
    const outcomes = partial ? await intake.recordEach(checked) : [await intake.recordAll(checked)];
    const failed = outcomes.flatMap((one, index) => {
      if (!(one instanceof RequestError)) return [];
      // A key that is under way may work later, if the event is sent again.
      return { index, errors: one.faults, retriable: one.code === 'request-in-progress' };
    });
    const { header } = intake.ignored;
    if (failed.length > 0) {
      const summary = { recorded: checked.length - failed.length, failed: failed.length };
      return sendJson(ctx, 207, JSON.stringify({ summary, failed }), undefined, header);
    }
    const recorded = outcomes.flatMap((one) => (one instanceof RequestError ? [] : one));
    const text = await options.bodies.jsonList(ctx, recorded, recordedForm);
    sendJson(ctx, 201, text, undefined, header);
  };
}

function requireOneToMost(count: number | undefined): void {
  if (count === undefined) throw malformed('must be a JSON array');
  if (count >= 1 && count <= mostEvents) return;
  const detail = `must hold 1 to ${mostEvents} events, it holds ${count}`;
  throw new RequestError('invalid-event', 'The number of events is not valid; see errors.', [{ pointer: '', detail }]);
}

/** A key for the whole request would promise one answer for all its events, which nobody keeps. */
function refuseHeaderKey({ headers }: Context): void {
  if (headers['idempotency-key'] === undefined) return;
  const detail = 'is for single events: give each event an idempotency_key';
  throw new RequestError('malformed-request', 'The header Idempotency-Key is not valid here; see errors.', [
    { header: 'Idempotency-Key', detail },
  ]);
}

function isPartial({ query: { partial = 'false' } }: Context): boolean {
  if (partial === 'true' || partial === 'false') return partial === 'true';
  throw new RequestError('malformed-request', 'The request has invalid parameters; see errors.', [
    { parameter: 'partial', detail: 'must be true or false' },
  ]);
}

/** @throws {RequestError} that names each fault of the event, and its key if that is repeated. */
function requestsOf(value: unknown, index: number, intake: Intake, { validate }: BulkOptions): Requests {
  const faults = faultsOf(value, validate);
  const key = (Object(value) as { idempotency_key?: unknown }).idempotency_key ?? undefined;
  if (key !== undefined && !isBareKey(key)) faults.push({ pointer: keyPointer, detail: keyRule });
  const named = isBareKey(key) ? callerKey(key) : undefined;
  const first = named && intake.sameKey(index, named);
  if (first !== undefined) faults.push({ pointer: keyPointer, detail: `is the key of event ${first} too` });
  if (faults.length > 0) throw new RequestError('invalid-event', 'The event is not valid; see errors.', faults);
  const event = value as EventRequest;
  intake.ignore(index, event, knownFields);
  return { requests: [event], key: named };
}

const keyRule = 'must be 1 to 255 visible ASCII characters, without quotes and backslashes';

/** A line that is not JSON comes as the error that says so. */
function faultsOf(value: unknown, validate: BulkOptions['validate']): FieldError[] {
  try {
    if (value instanceof RequestError) throw value;
    validate(value);
    return [];
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    return [...error.faults];
  }
}
