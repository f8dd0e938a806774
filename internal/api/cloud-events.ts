import type { Context, Middleware } from 'koa';
import { RequestError, type FieldError } from '../errors/request-error.ts';
import { acceptEvent, recordedForm, type AcceptedEvent, type EventGroup } from '../event/event.ts';
import { foreignTime } from '../event/foreign-time.ts';
import type { RepeatKey } from '../event/repeat-key.ts';
import type { EventRequest } from '../event/schema.ts';
import type { AuthenticatedState } from './authenticate.ts';
import type { HttpStack } from './http-stack.ts';
import type { JsonBody } from './json-body.ts';
import { mostEvents, type BulkOptions } from './register-bulk.ts';
import { tektonRequests, tektonTypes, type CloudEventRequests } from './tekton-event.ts';

const structured = 'application/cloudevents+json';
const batch = 'application/cloudevents-batch+json';

/** The types of a body: one event, a batch, or the data of an event in headers. */
export const cloudEventTypes = ['application/json', structured, batch];

const kinds = new Map(
  (['START', 'EVENT', 'WARNING', 'ERROR', 'END'] as const).map((kind) => [`dev.runledger.${kind.toLowerCase()}`, kind]),
);

/** An event in the JSON format of CloudEvents, and where it is in the body. */
interface Given {
  pointer: string;
  event: unknown;
}

/**
 * `POST /v1/cloudevents/`: records events in the HTTP binding of CloudEvents 1.0, in binary,
 * structured or batch mode. All of them are recorded, or none. `source` and `id` are the
 * idempotency key.
 */
export function cloudEvents(
  body: JsonBody,
  sendJson: HttpStack['sendJson'],
  { validate, identify, enqueueAll, bodies }: BulkOptions,
): Middleware<AuthenticatedState> {
  return async (ctx) => {
    const accept = (request: EventRequest) => acceptEvent(request, ctx.state.organization, identify());
    const checked = await read(ctx, body, (given) => check(given, validate, accept));
    const faults = [...checked.flatMap((one) => one.faults), ...repeatedKeys(checked)];
    if (faults.length > 0) throw new RequestError('invalid-event', 'Some events are not valid; see errors.', faults);
    const results = await enqueueAll(
      checked.map(({ events, key }): EventGroup => ({ events, key })),
      'all',
    );
    const recorded = results.flatMap((result) => {
      if (result instanceof RequestError) throw result;
      return result.map(recordedForm);
    });
    sendJson(ctx, 201, await bodies.run(ctx, () => JSON.stringify(recorded)));
  };
}

async function read<T>(ctx: Context, body: JsonBody, use: (given: Given) => T): Promise<T[]> {
  const type = ctx.request.type.trim().toLowerCase();
  if (type === batch) {
    const each = (event: unknown, index: number): T => use({ pointer: `/${index}`, event });
    return body.readList(ctx, { requireCount: requireOneToMost, each });
  }
  const eventOf = (value: unknown) => (type === structured ? value : { ...attributesOf(ctx), data: value });
  return [await body.read(ctx, (value) => use({ pointer: '', event: eventOf(value) }))];
}

function requireOneToMost(count = 0): void {
  if (count >= 1 && count <= mostEvents) return;
  const detail = `must be a JSON array of 1 to ${mostEvents} events`;
  throw new RequestError('invalid-event', 'The batch is not valid; see errors.', [{ pointer: '', detail }]);
}

/** The attributes of an event in binary mode: headers, with percent-encoding. */
function attributesOf({ headers }: Context): Record<string, string | undefined> {
  const attribute = (name: string): string | undefined => {
    const value = headers[`ce-${name}`];
    return typeof value === 'string' ? decoded(value) : undefined;
  };
  return Object.fromEntries(['specversion', 'type', 'source', 'id', 'time'].map((name) => [name, attribute(name)]));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

interface Checked {
  pointer: string;
  events: AcceptedEvent[];
  key: RepeatKey | undefined;
  faults: FieldError[];
}

/** Nothing of what is given is kept but the events. */
function check(
  { pointer, event }: Given,
  validate: BulkOptions['validate'],
  accept: (request: EventRequest) => AcceptedEvent,
): Checked {
  const { specversion, type, source, id, time = null, data } = Object(event) as Record<string, unknown>;
  const faults: FieldError[] = [];
  const fault = (field: string, detail: string): void => void faults.push({ pointer: `${pointer}/${field}`, detail });
  const read = requestsOf(String(type), time, data);
  if (specversion !== '1.0') fault('specversion', 'must be 1.0');
  if (read === undefined) fault('type', `must be one of ${[...kinds.keys(), tektonTypes].join(', ')}`);
  if (typeof source !== 'string' || source === '') fault('source', 'must be a text that is not empty');
  if (typeof id !== 'string' || id === '') fault('id', 'must be a text that is not empty');
  if (typeof data !== 'object' || data === null || Array.isArray(data)) fault('data', 'must be a JSON object');
  if (faults.length > 0 || read === undefined) return { pointer, events: [], key: undefined, faults };
  faults.push(...faultsOf(pointer, read, validate));
  const requests = read.requests as unknown as EventRequest[];
  return {
    pointer,
    events: faults.length > 0 ? [] : requests.map(accept),
    key: ['cloud-event', String(source), String(id)],
    faults,
  };
}

function requestsOf(type: string, time: unknown, data: unknown): CloudEventRequests | undefined {
  const kind = kinds.get(type);
  const read =
    kind === undefined
      ? tektonRequests(type, time, data)
      : { requests: [{ ...Object(data), event: kind, occurred_at: time }], pointers: {} };
  return read && { ...read, requests: read.requests.map(withReadTime) };
}

/** A time that cannot be read stays as it is, and is a fault. */
function withReadTime(request: CloudEventRequests['requests'][number]): CloudEventRequests['requests'][number] {
  const { occurred_at: time } = request;
  const read = typeof time === 'string' ? foreignTime(time) : undefined;
  return read === undefined ? request : { ...request, occurred_at: read.occurredAt };
}

/** The faults of the first request, as faults of the event. The others have the same ids. */
function faultsOf(
  pointer: string,
  { requests: [request], pointers }: CloudEventRequests,
  validate: BulkOptions['validate'],
): FieldError[] {
  try {
    validate(request);
    return [];
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    return error.faults.map((fault) => {
      if (!('pointer' in fault)) return fault;
      const place = fault.pointer === '/occurred_at' ? '/time' : `/data${fault.pointer}`;
      return { ...fault, pointer: pointer + (pointers[fault.pointer] ?? place) };
    });
  }
}

function repeatedKeys(checked: readonly Checked[]): FieldError[] {
  const seen = new Set<string>();
  return checked.flatMap(({ pointer, key }) => {
    if (key === undefined) return [];
    const name = JSON.stringify(key);
    const repeated = seen.has(name);
    seen.add(name);
    return repeated ? [{ pointer: `${pointer}/id`, detail: 'is in the batch twice, with the same source' }] : [];
  });
}
