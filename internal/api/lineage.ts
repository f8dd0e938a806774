import type { Middleware } from 'koa';
import { RequestError, unavailable, type FieldError } from '../errors/request-error.ts';
import { acceptEvent, recordedForm, type KeyedEvent, type RecordedEvent } from '../event/event.ts';
import type { AuthenticatedState } from './authenticate.ts';
import type { HttpStack } from './http-stack.ts';
import type { Projected, Shape } from './json-projection.ts';
import { lineageShape, requestsOf, type KeyedRequest, type LineageOptions } from './lineage-event.ts';
import type { ReadProjected } from './projected-body.ts';
import { mostEvents, type BulkOptions } from './register-bulk.ts';

/** Largest body, in bytes: facets may hold whole query plans. */
export const lineageBodyLimit = 64 * 1_024 * 1_024;

/** The events of a batch. */
export const lineageBatchShape: Shape = [lineageShape, mostEvents];

export type LineageRouteOptions = LineageOptions & BulkOptions;

/** `POST /api/v1/lineage`: records an event of OpenLineage. The 200 is a receipt. */
export function lineage(
  read: ReadProjected,
  sendJson: HttpStack['sendJson'],
  options: LineageRouteOptions,
): Middleware<AuthenticatedState> {
  return async (ctx) => {
    const requests = requestsOf(await read(ctx), options);
    const record = await recordAll(requests, ctx.state.organization, options);
    const { recorded, isWaiting } = record(requests);
    // OpenLineage's clients repeat a request after 503, but not after 409.
    if (isWaiting) throw unavailable(underWay);
    sendJson(ctx, 200, await options.bodies.run(ctx, () => JSON.stringify(recorded)));
  };
}

const underWay = 'The same event is being recorded for an earlier request.';

/**
 * `POST /api/v1/lineage/batch`: records all events that are valid, in one commit. Answers 207 if
 * some are not, and 400 if none is.
 */
export function lineageBatch(
  read: ReadProjected,
  sendJson: HttpStack['sendJson'],
  options: LineageRouteOptions,
): Middleware<AuthenticatedState> {
  return async (ctx) => {
    const events = listOf(await read(ctx));
    const checked = await options.bodies.map(ctx, events, (event) => check(event, options));
    const faults = checked.flatMap((one, index) => faultsOf(one, index));
    if (checked.length > 0 && checked.every((one) => one instanceof RequestError)) throw invalidBatch(faults);
    const valid = checked.flatMap((one) => (one instanceof RequestError ? [] : one));
    const record = await recordAll(valid, ctx.state.organization, options);
    const failed = checked.flatMap((one, index) => {
      if (one instanceof RequestError) return { index, reason: reasonOf(one), retriable: false };
      return record(one).isWaiting ? { index, reason: underWay, retriable: true } : [];
    });
    const received = checked.length;
    const summary = { received, successful: received - failed.length, failed: failed.length };
    const [code, status] = failed.length === 0 ? [200, 'success'] : [207, 'partial_success'];
    sendJson(ctx, code, JSON.stringify({ status, summary, failed_events: failed }));
  };
}

/** Says for the requests of one event what became of them. */
type Record = (requests: readonly KeyedRequest[]) => { recorded: RecordedEvent[]; isWaiting: boolean };

/** Records requests in one commit. Of equal keys, one is recorded. */
async function recordAll(
  requests: readonly KeyedRequest[],
  organization: string,
  { identify, enqueueAll }: LineageRouteOptions,
): Promise<Record> {
  const events = new Map(
    requests.map(({ request, key }): [string, KeyedEvent] => {
      return [key, { event: acceptEvent(request, organization, identify()), key }];
    }),
  );
  const results = events.size === 0 ? [] : await enqueueAll([...events.values()], 'each');
  const resultOf = new Map([...events.keys()].map((key, index) => [key, results[index]]));
  return (own) => {
    const outcomes = own.map(({ key }) => resultOf.get(key));
    return {
      recorded: outcomes.flatMap((one) => (one === undefined || one instanceof RequestError ? [] : recordedForm(one))),
      // The other error is a key that was used with another text: that event is recorded already.
      isWaiting: outcomes.some((one) => one instanceof RequestError && one.code === 'request-in-progress'),
    };
  };
}

function listOf(value: Projected): Projected[] {
  if (Array.isArray(value) && value.length <= mostEvents) return value;
  throw invalidBatch([{ pointer: '', detail: `must be a JSON array of at most ${mostEvents} events` }]);
}

function check(event: Projected, options: LineageRouteOptions): KeyedRequest[] | RequestError {
  try {
    return requestsOf(event, options);
  } catch (error) {
    if (error instanceof RequestError) return error;
    throw error;
  }
}

function faultsOf(checked: KeyedRequest[] | RequestError, index: number): FieldError[] {
  if (!(checked instanceof RequestError)) return [];
  return checked.faults.map((fault) => {
    return 'pointer' in fault ? { ...fault, pointer: `/${index}${fault.pointer}` } : fault;
  });
}

/** The faults of an event as a sentence, such as `/run/runId is required`. */
function reasonOf({ faults }: RequestError): string {
  return faults.map((fault) => ('pointer' in fault ? `${fault.pointer} ${fault.detail}`.trim() : '')).join('; ');
}

function invalidBatch(faults: readonly FieldError[]): RequestError {
  return new RequestError('invalid-event', 'No event of the batch is valid; see errors.', faults);
}
