import type { Middleware } from 'koa';
import { RequestError, Unavailable, type FieldError } from '../errors/request-error.ts';
import { acceptEvent, recordedForm, type EventGroup, type RecordedEvent } from '../event/event.ts';
import type { AuthenticatedState } from './authenticate.ts';
import type { HttpStack } from './http-stack.ts';
import type { Projected, Shape } from './json-projection.ts';
import { lineageShape, requestsOf, type KeyedRequests, type LineageOptions } from './lineage-event.ts';
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
    const keyed = requestsOf(await read(ctx), options);
    const outcomeOf = await recordAll([keyed], ctx.state.organization, options);
    const { recorded, isWaiting } = outcomeOf(keyed);
    // OpenLineage's clients repeat a request after 503, but not after 409.
    if (isWaiting) throw new Unavailable(underWay, 'under-way');
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
    const outcomeOf = await recordAll(valid, ctx.state.organization, options);
    const failed = checked.flatMap((one, index) => {
      if (one instanceof RequestError) return { index, reason: reasonOf(one), retriable: false };
      return outcomeOf(one).isWaiting ? { index, reason: underWay, retriable: true } : [];
    });
    const received = checked.length;
    const summary = { received, successful: received - failed.length, failed: failed.length };
    const [code, status] = failed.length === 0 ? [200, 'success'] : [207, 'partial_success'];
    sendJson(ctx, code, JSON.stringify({ status, summary, failed_events: failed }));
  };
}

/** Says what became of a run event; undefined for one without a run, which is not recorded. */
type OutcomeOf = (keyed: KeyedRequests | undefined) => { recorded: RecordedEvent[]; isWaiting: boolean };

/** Records run events in one commit. Of equal keys, one is recorded. */
async function recordAll(
  all: readonly (KeyedRequests | undefined)[],
  organization: string,
  { identify, enqueueAll }: LineageRouteOptions,
): Promise<OutcomeOf> {
  const groups = new Map(
    all.flatMap((one): [string, EventGroup][] => {
      if (one === undefined) return [];
      const events = one.requests.map((request) => acceptEvent(request, organization, identify()));
      return [[JSON.stringify(one.key), { events, key: one.key, name: one.name }]];
    }),
  );
  const results = groups.size === 0 ? [] : await enqueueAll([...groups.values()], 'each');
  const resultOf = new Map([...groups.keys()].map((key, index) => [key, results[index]]));
  return (keyed) => {
    const result = resultOf.get(JSON.stringify(keyed?.key)) ?? [];
    if (!(result instanceof RequestError)) return { recorded: result.map(recordedForm), isWaiting: false };
    // The other error is a key that was used with another text: that event is recorded already.
    return { recorded: [], isWaiting: result.code === 'request-in-progress' };
  };
}

function listOf(value: Projected): Projected[] {
  if (Array.isArray(value) && value.length <= mostEvents) return value;
  throw invalidBatch([{ pointer: '', detail: `must be a JSON array of at most ${mostEvents} events` }]);
}

function check(event: Projected, options: LineageRouteOptions): KeyedRequests | RequestError | undefined {
  try {
    return requestsOf(event, options);
  } catch (error) {
    if (error instanceof RequestError) return error;
    throw error;
  }
}

function faultsOf(checked: KeyedRequests | RequestError | undefined, index: number): FieldError[] {
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
