import type { Context, Middleware } from 'koa';
import { RequestError, type FieldError } from '../../kit/errors/request-error.ts';
import { recordedForm } from '../../event/event.ts';
import { foreignTime } from '../../event/foreign-time.ts';
import type { RepeatKey } from '../../event/repeat-key.ts';
import { requestFields, type EventRequest } from '../../event/schema.ts';
import type { AuthenticatedState } from '../http/authenticate.ts';
import { dataOf } from './cloud-event-data.ts';
import type { HttpStack } from '../http/http-stack.ts';
import { inList, Intake, mostEvents, type Checked, type Requests } from './intake.ts';
import type { JsonBody } from '../bodies/json-body.ts';
import type { BulkOptions } from './register-bulk.ts';
import { tektonRequests, tektonTypes, type CloudEventRequests } from './tekton-event.ts';

const structured = 'application/cloudevents+json';
const batch = 'application/cloudevents-batch+json';

/** The content types: one event, a batch, or the data of an event whose attributes are headers. */
export const cloudEventTypes = ['application/json', structured, batch, '*/*+json'];

const kinds = new Map(
  (['START', 'EVENT', 'WARNING', 'ERROR', 'END'] as const).map((kind) => [`dev.runledger.${kind.toLowerCase()}`, kind]),
);

/**
 * `POST /v1/cloudevents/`: records events in the HTTP binding of CloudEvents 1.0, in binary,
 * structured or batch mode, all or none. `source` and `id` are the idempotency key.
 */
export function cloudEvents(
  body: JsonBody,
  sendJson: HttpStack['sendJson'],
  options: BulkOptions,
): Middleware<AuthenticatedState> {
  return async (ctx) => {
    const isBatch = ctx.request.type.trim().toLowerCase() === batch;
    const pointerOf = isBatch ? inList : () => '';
    const intake = new Intake(ctx.state.organization, options, { pointerOf, key: '/id' });
    const each = (event: unknown, index: number): Checked =>
      intake.check(index, () => read(event, index, intake, options));
    const checked = isBatch
      ? await body.readList(ctx, { requireCount: requireOneToMost, each })
      : [await body.read(ctx, (value) => each(eventOf(ctx, value), 0))];
    const recorded = await intake.recordAll(checked);
    const text = await options.bodies.jsonList(ctx, recorded, recordedForm);
    sendJson(ctx, 201, text, undefined, intake.ignored.header);
  };
}

function eventOf(ctx: Context, value: unknown): unknown {
  return ctx.request.type.trim().toLowerCase() === structured ? value : { ...attributesOf(ctx), data: value };
}

function requireOneToMost(count = 0): void {
  if (count >= 1 && count <= mostEvents) return;
  const detail = `must be a JSON array of 1 to ${mostEvents} events`;
  throw new RequestError('invalid-event', 'The batch is not valid; see errors.', [{ pointer: '', detail }]);
}

/** The attributes of an event in binary mode: percent-encoded headers. */
function attributesOf({ req }: Context): Record<string, string | undefined> {
  const attribute = (name: string): string | undefined => {
    const value = oneValue(req.headersDistinct[`ce-${name}`]);
    return value === undefined ? undefined : decoded(value);
  };
  return Object.fromEntries(['specversion', 'type', 'source', 'id', 'time'].map((name) => [name, attribute(name)]));
}

/** The value of a header repeated with one value; undefined for different values. */
function oneValue(values: readonly string[] = []): string | undefined {
  return values.every((value) => value === values[0]) ? values[0] : undefined;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** @throws {RequestError} that names each fault of an event in the JSON format of CloudEvents. */
function read(event: unknown, index: number, intake: Intake, { validate }: BulkOptions): Requests {
  const { specversion, type, source, id, time = null, ...rest } = Object(event) as Record<string, unknown>;
  const data = dataOf(rest);
  const faults: FieldError[] = [];
  const fault = (field: string, detail: string): void => void faults.push({ pointer: `/${field}`, detail });
  const found = requestsOf(String(type), time, data.value);
  if (specversion !== '1.0') fault('specversion', 'must be 1.0');
  if (found === undefined) fault('type', `must be one of ${[...kinds.keys(), tektonTypes].join(', ')}`);
  if (typeof source !== 'string' || source === '') fault('source', 'must be a text that is not empty');
  if (typeof id !== 'string' || id === '') fault('id', 'must be a text that is not empty');
  if (data.fault !== undefined) fault(data.pointer.slice(1), data.fault);
  if (faults.length > 0 || found === undefined) throw invalid(faults);
  faults.push(...faultsOf(found, data.pointer, validate));
  const key: RepeatKey = ['cloud-event', String(source), String(id)];
  if (intake.sameKey(index, key) !== undefined) fault('id', 'is in the batch twice, with the same source');
  if (faults.length > 0) throw invalid(faults);
  if (kinds.has(String(type))) intake.ignore(index, data.value as EventRequest, dataFields, data.pointer);
  const { instants, name } = found;
  return { requests: found.requests as unknown as EventRequest[], key, instants, name };
}

/** Type and time are attributes of the event; in its data they would mean nothing. */
const dataFields = new Set([...requestFields].filter((name) => name !== 'event' && name !== 'occurred_at'));

function invalid(faults: readonly FieldError[]): RequestError {
  return new RequestError('invalid-event', 'The event is not valid; see errors.', faults);
}

type ReadRequests = CloudEventRequests & Pick<Requests, 'instants'>;

function requestsOf(type: string, time: unknown, data: unknown): ReadRequests | undefined {
  const kind = kinds.get(type);
  const read =
    kind === undefined
      ? tektonRequests(type, time, data)
      : { requests: [{ ...Object(data), event: kind, occurred_at: time }], pointers: {} };
  if (read === undefined) return undefined;
  const times = read.requests.map(({ occurred_at: at }) => (typeof at === 'string' ? foreignTime(at) : undefined));
  return {
    ...read,
    // A time that cannot be parsed stays as it is, so that it counts as a fault.
    requests: read.requests.map((request, at) => {
      const time = times[at];
      return time === undefined ? request : { ...request, occurred_at: time.occurredAt };
    }),
    instants: times.map((time) => time?.instant),
  };
}

/** The faults of the first request, as faults of the event. The others have the same ids. */
function faultsOf(
  { requests: [request], pointers }: CloudEventRequests,
  dataPointer: string,
  validate: BulkOptions['validate'],
): FieldError[] {
  try {
    validate(request);
    return [];
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    return error.faults.map((fault) => {
      if (!('pointer' in fault)) return fault;
      const ofData = pointers[fault.pointer] ?? fault.pointer;
      const isTime = fault.pointer === '/occurred_at' && pointers['/occurred_at'] === undefined;
      return { ...fault, pointer: isTime ? '/time' : dataPointer + ofData };
    });
  }
}
