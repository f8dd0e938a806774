import type { Context, Middleware } from 'koa';
import { acceptEvent, recordedForm, type AcceptedEvent, type EventGroup } from '../event/event.ts';
import type { EventRequest } from '../event/schema.ts';
import { RequestError, type FieldError } from '../errors/request-error.ts';
import type { AuthenticatedState } from './authenticate.ts';
import type { Bodies } from './bodies.ts';
import type { HttpStack } from './http-stack.ts';
import { callerKey, isBareKey } from './idempotency-key.ts';
import { malformed, type JsonBody } from './json-body.ts';
import type { RegisterOptions } from './register.ts';

/** Most events of a request, and largest body, in bytes. */
export const mostEvents = 500;
export const bulkBodyLimit = 2 * 1_024 * 1_024;

/**
 * Makes events durable in one commit. Resolves with each group as it was first accepted, in order,
 * or with an error for one whose key cannot be used. With `all`, one error means that none was
 * recorded. Rejects with a {@link RequestError} if none can be recorded now. `withinMs`: what is
 * left of the time for the answer.
 */
export type EnqueueAll = (
  groups: readonly EventGroup[],
  which: 'all' | 'each',
  withinMs?: number,
) => Promise<(readonly AcceptedEvent[] | RequestError)[]>;

export interface BulkOptions extends Pick<RegisterOptions, 'validate' | 'identify'> {
  enqueueAll: EnqueueAll;
  bodies: Bodies;
}

/** An event of the request that is not recorded. `retriable`: it may be, if it is sent again. */
interface Failed {
  index: number;
  errors: readonly FieldError[];
  retriable: boolean;
}

/**
 * `POST /v1/register/bulk/`: records many events, all or none of them. With `?partial=true` it
 * records those that can be recorded, and answers 207 with the others.
 */
export function registerBulk(
  body: JsonBody,
  sendJson: HttpStack['sendJson'],
  { validate, identify, enqueueAll, bodies }: BulkOptions,
): Middleware<AuthenticatedState> {
  return async (ctx) => {
    const accept = (request: EventRequest) => acceptEvent(request, ctx.state.organization, identify());
    const checked = await body.readList(ctx, { requireCount: requireOneToMost, each: checking(validate, accept) });
    refuseHeaderKey(ctx);
    const partial = isPartial(ctx);
    const invalid = checked.filter((one) => 'errors' in one);
    if (!partial && invalid.length > 0) throw invalidEvents(invalid);
    const valid = checked.filter((one) => 'events' in one);
    const results = valid.length === 0 ? [] : await enqueueAll(valid, partial ? 'each' : 'all');
    const refused = results.flatMap((result, place) => {
      return result instanceof RequestError ? { index: valid[place]?.index ?? 0, error: result } : [];
    });
    if (!partial && refused.length > 0) throw keysRefused(refused);
    const failed = [...invalid, ...refused.map(failedByKey)].toSorted((a, b) => a.index - b.index);
    if (failed.length === 0) {
      return sendJson(ctx, 201, await bodies.run(ctx, () => JSON.stringify(recordedForms(results))));
    }
    const summary = { recorded: checked.length - failed.length, failed: failed.length };
    sendJson(ctx, 207, JSON.stringify({ summary, failed }));
  };
}

function recordedForms(results: readonly (readonly AcceptedEvent[] | RequestError)[]) {
  return results.flatMap((result) => (result instanceof RequestError ? [] : result.map(recordedForm)));
}

function requireOneToMost(count: number | undefined): void {
  if (count === undefined) throw malformed('must be a JSON array');
  if (count >= 1 && count <= mostEvents) return;
  const detail = `must hold 1 to ${mostEvents} events, it holds ${count}`;
  throw new RequestError('invalid-event', 'The number of events is not valid; see errors.', [{ pointer: '', detail }]);
}

/** A key for the whole request would promise what no one keeps: an answer for all its events. */
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

interface Valid extends EventGroup {
  index: number;
}

/**
 * Returns the check of each event of a request, which finds a key that comes twice, too. Nothing of
 * the value is kept but the event.
 */
function checking(
  validate: BulkOptions['validate'],
  accept: (request: EventRequest) => AcceptedEvent,
): (value: unknown, index: number) => Valid | Failed {
  const keys = new Map<string, number>();
  return (value, index) => {
    const errors = faultsOf(value, validate);
    const key: unknown = Object(value).idempotency_key ?? undefined;
    if (isBareKey(key)) {
      const first = keys.get(key);
      if (first !== undefined) errors.push(keyFault(`is the key of event ${first} too`));
      else keys.set(key, index);
    } else if (key !== undefined) errors.push(keyFault(keyRule));
    if (errors.length > 0) return { index, errors: errors.map((error) => within(index, error)), retriable: false };
    return { index, events: [accept(value as EventRequest)], key: callerKey(key as string | undefined) };
  };
}

const keyRule = 'must be 1 to 255 visible ASCII characters, without quotes and backslashes';

function keyFault(detail: string): FieldError {
  return { pointer: '/idempotency_key', detail };
}

function faultsOf(value: unknown, validate: BulkOptions['validate']): FieldError[] {
  if (value instanceof SyntaxError) return [{ pointer: '', detail: 'must be valid JSON' }];
  try {
    validate(value);
    return [];
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    return [...error.faults];
  }
}

/** The fault of an event, as a fault of the list. */
function within(index: number, fault: FieldError): FieldError {
  return 'pointer' in fault ? { ...fault, pointer: `/${index}${fault.pointer}` } : fault;
}

function invalidEvents(failed: readonly Failed[]): RequestError {
  const detail = 'No event was recorded, because some are not valid; see errors.';
  return new RequestError(
    'invalid-event',
    detail,
    failed.flatMap(({ errors }) => errors),
  );
}

interface Refused {
  index: number;
  error: RequestError;
}

function failedByKey({ index, error }: Refused): Failed {
  const errors = [within(index, keyFault(error.message))];
  return { index, errors, retriable: error.code === 'request-in-progress' };
}

/** A key with another body will never do; one that is under way may do later. */
function keysRefused(refused: readonly Refused[]): RequestError {
  const reused = refused.some(({ error }) => error.code === 'idempotency-key-reused');
  const code = reused ? 'idempotency-key-reused' : 'request-in-progress';
  const detail = 'No event was recorded, because some keys cannot be used; see errors.';
  return new RequestError(
    code,
    detail,
    refused.flatMap((one) => failedByKey(one).errors),
  );
}
