import type { Middleware } from 'koa';
import { RequestError, Unavailable, type FieldError } from '../../kit/errors/request-error.ts';
import { recordedForm } from '../../event/event.ts';
import type { AuthenticatedState } from '../http/authenticate.ts';
import type { HttpStack } from '../http/http-stack.ts';
import { inList, Intake, mostEvents, type Checked, type Outcome, type Requests } from './intake.ts';
import type { Projected, Shape } from '../bodies/json-projection.ts';
import { lineageShape, requestsOf, type LineageOptions } from './lineage-event.ts';
import type { ReadProjected } from '../bodies/projected-body.ts';
import type { BulkOptions } from './register-bulk.ts';

/** Largest body, in bytes: facets may hold whole query plans. */
export const lineageBodyLimit = 64 * 1_024 * 1_024;

/** The events of a batch. */
export const lineageBatchShape: Shape = [lineageShape, mostEvents];

export type LineageRouteOptions = LineageOptions & BulkOptions;

/** `POST /api/v1/lineage`: records an OpenLineage event. The 200 is a receipt. */
export function lineage(
  read: ReadProjected,
  sendJson: HttpStack['sendJson'],
  options: LineageRouteOptions,
): Middleware<AuthenticatedState> {
  return async (ctx) => {
    const event = await read(ctx);
    const intake = new Intake(ctx.state.organization, options);
    const [outcome = []] = (await intake.recordEach([intake.check(0, () => wanted(event, options))])).map(settled);
    // OpenLineage's clients repeat a request after 503, but not after 409.
    if (isUnderWay(outcome)) throw new Unavailable(underWay, 'under-way');
    if (outcome instanceof RequestError) throw outcome;
    sendJson(ctx, 200, await options.bodies.jsonList(ctx, outcome, recordedForm));
  };
}

const underWay = 'The same event is being recorded for an earlier request.';

/**
 * `POST /api/v1/lineage/batch`: records all valid events, in one commit. Answers 207 if some are
 * not valid, and 400 if none is.
 */
export function lineageBatch(
  read: ReadProjected,
  sendJson: HttpStack['sendJson'],
  options: LineageRouteOptions,
): Middleware<AuthenticatedState> {
  return async (ctx) => {
    const events = listOf(await read(ctx));
    const intake = new Intake(ctx.state.organization, options, { pointerOf: inList });
    const checked = await options.bodies.map(ctx, events, (event, index) =>
      intake.check(index, () => wanted(event, options)),
    );
    const outcomes = await recordValid(checked, intake);
    const failed = outcomes.flatMap((one, index) => {
      if (!(one instanceof RequestError)) return [];
      return { index, reason: isUnderWay(one) ? underWay : reasonOf(one, index), retriable: isUnderWay(one) };
    });
    const received = outcomes.length;
    const summary = { received, successful: received - failed.length, failed: failed.length };
    const [code, status] = failed.length === 0 ? [200, 'success'] : [207, 'partial_success'];
    sendJson(ctx, code, JSON.stringify({ status, summary, failed_events: failed }));
  };
}

/** What an event asks to record; nothing if it has no run. */
function wanted(event: Projected, options: LineageRouteOptions): Requests {
  return requestsOf(event, options) ?? { requests: [], key: undefined };
}

/** Rejects if no event of the batch is valid. */
async function recordValid(checked: readonly Checked[], intake: Intake): Promise<Outcome[]> {
  const invalid = checked.filter((one) => one instanceof RequestError);
  if (invalid.length > 0 && invalid.length === checked.length)
    throw invalidBatch(invalid.flatMap(({ faults }) => faults));
  return (await intake.recordEach(checked)).map(settled);
}

/** A key used with another text means that the event is already recorded. */
function settled(outcome: Outcome): Outcome {
  return outcome instanceof RequestError && outcome.code === 'idempotency-key-reused' ? [] : outcome;
}

function isUnderWay(outcome: Outcome): outcome is RequestError {
  return outcome instanceof RequestError && outcome.code === 'request-in-progress';
}

function listOf(value: Projected): Projected[] {
  if (Array.isArray(value) && value.length <= mostEvents) return value;
  throw invalidBatch([{ pointer: '', detail: `must be a JSON array of at most ${mostEvents} events` }]);
}

/** Formats the faults of an event as a sentence, such as `/run/runId is required`. */
function reasonOf({ faults }: RequestError, index: number): string {
  const inEvent = (pointer: string): string => pointer.slice(inList(index).length);
  return faults
    .map((fault) => ('pointer' in fault ? `${inEvent(fault.pointer)} ${fault.detail}`.trim() : ''))
    .join('; ');
}

function invalidBatch(faults: readonly FieldError[]): RequestError {
  return new RequestError('invalid-event', 'No event of the batch is valid; see errors.', faults);
}
