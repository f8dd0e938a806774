import { randomUUID } from 'node:crypto';
import * as fc from 'fast-check';
import { optionalFields } from '../../../internal/event/fields.ts';
import type { Random } from './random.ts';

/** A request that somebody might send to `/v1/register/`, or to `/v1/register/bulk/`. */
export interface FuzzedRequest {
  headers: Record<string, string>;
  body: Buffer;
}

/** The automations that fuzzed events name, so that what was stored of them can be counted. */
export const automations = Array.from({ length: 4 }, () => randomUUID());

const kinds = ['START', 'EVENT', 'WARNING', 'ERROR', 'END'];
const json = { 'content-type': 'application/json' };

const often = <T>(weight: number, arbitrary: fc.Arbitrary<T>) => ({ weight, arbitrary });
const oneOf = (texts: readonly (string | undefined)[]) => fc.constantFrom(...texts);

/** Any UTF-16, also U+0000 and halves of surrogate pairs, and what parsers stumble over. */
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  oneOf(['', ' ', '\0', '\ud800', '\udfff\ud800', 'null', '{}', '\u2028', '\uFEFF', 'a\\', '%00', '${x}']),
  oneOf(["'; drop table events; --", 'y'.repeat(10_000), 'y'.repeat(10_001), '🎉'.repeat(10_000)]),
  fc.integer({ min: 254, max: 257 }).map((length) => 'x'.repeat(length)),
);
const anything = fc.oneof(often(5, text), fc.jsonValue({ maxDepth: 3 }), fc.constantFrom(1e308, -0, 2 ** 53));
const [first = ''] = automations;
const automation = fc.oneof(
  often(8, oneOf(automations)),
  often(2, oneOf([...automations.map((id) => id.toUpperCase()), `{${first}}`, first.replaceAll('-', '')])),
  anything,
);
const kind = fc.oneof(often(8, oneOf(kinds)), oneOf(['start', 'STOP', 'START ', '']), anything);
const mostly = <T>(good: fc.Arbitrary<T>) => fc.oneof(often(6, good), anything);

const event = fc.record(
  {
    automation_id: automation,
    execution_id: mostly(fc.string({ minLength: 1, maxLength: 20 })),
    event: kind,
    ...Object.fromEntries(optionalFields.map(({ request }) => [request, mostly(text)])),
    __proto__: fc.oneof(text, fc.constant({ event: 'END' })),
    constructor: anything,
    [String.fromCodePoint(0x1f600)]: anything,
  },
  { requiredKeys: ['automation_id', 'execution_id', 'event'] },
);
const document = fc.oneof(often(12, event), fc.jsonValue({ maxDepth: 4 }), fc.array(event, { maxLength: 3 }));

const visible = fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCodePoint(code));
const headerText = fc.string({ unit: visible, maxLength: 40 });
const types = ['text/plain', 'application/json; charset=latin1', 'application/json;charset=utf-8', 'application/JSON'];
const otherTypes = ['multipart/form-data', '', 'application/x-www-form-urlencoded'];
const headers: fc.Arbitrary<Record<string, string>> = fc.oneof(
  often(10, fc.constant(json)),
  fc.constantFrom(...types, ...otherTypes).map((type) => ({ 'content-type': type })),
  fc.constantFrom('gzip', 'br', 'identity', 'deflate, gzip', 'x').map((how) => ({ ...json, 'content-encoding': how })),
  headerText.map((key) => ({ ...json, 'idempotency-key': key })),
  fc.uuid().map((key) => ({ ...json, 'idempotency-key': `"${key}"` })),
  headerText.map((value) => {
    const names = ['x-forwarded-for', 'x-request-id', 'traceparent', 'forwarded'];
    return { ...json, ...Object.fromEntries(names.map((name) => [name, value])) };
  }),
);

const request: fc.Arbitrary<FuzzedRequest> = fc.record({
  headers,
  body: document.map((value) => Buffer.from(JSON.stringify(value))),
});

/** Requests that know the schema and get it nearly right. */
export function schemaAware(seed: number, count: number): FuzzedRequest[] {
  return fc.sample(request, { seed, numRuns: count });
}

const bytes = ['\0', '\xff', '\r\n', '\xc0\x80', '\xed\xa0\x80', '/*', '"__proto__":', '1e999', '\\u0000', '\\ud800'];
const splices = ['"', '\\', '{', '[', ',', ':', ...bytes];

const listOfEvents = fc.oneof(
  often(12, fc.array(fc.oneof(often(8, event), anything), { maxLength: 8 })),
  fc.jsonValue({ maxDepth: 3 }),
);
const keys = fc.array(fc.oneof(often(6, fc.uuid()), fc.constantFrom('k', 'l', null), anything), { maxLength: 8 });
const keyed = fc.tuple(listOfEvents, keys).map(([values, given]) => {
  if (!Array.isArray(values)) return values;
  return values.map((value, index) => {
    const hasKey = index < given.length && typeof value === 'object' && value !== null;
    return hasKey ? Object.assign({}, value, { idempotency_key: given[index] }) : value;
  });
});
const linesOf = ([values, between]: [unknown, string]): string =>
  [values]
    .flat()
    .map((value) => JSON.stringify(value))
    .join(between);
const bulk: fc.Arbitrary<FuzzedRequest> = fc.oneof(
  fc.record({ headers, body: keyed.map((value) => Buffer.from(JSON.stringify(value))) }),
  fc.record({
    headers: fc.constant({ 'content-type': 'application/x-ndjson' }),
    body: fc.tuple(keyed, fc.constantFrom('\n', '\r\n', '\n\n', ',')).map((lines) => Buffer.from(linesOf(lines))),
  }),
);

/** Requests with several events, most of them right or nearly right. */
export function bulks(seed: number, count: number): FuzzedRequest[] {
  return fc.sample(bulk, { seed, numRuns: count });
}

/** A valid event some of whose bytes have been changed, cut, doubled or put elsewhere. */
export function mutated(random: Random): FuzzedRequest {
  const valid = {
    automation_id: random.pick(automations),
    execution_id: `fuzz ${random.int(1, 500)}`,
    event: random.pick(kinds),
    description: random.pick(['plain', 'ümläut', '🎉 emoji', '\\"quoted\\"']),
  };
  let body: Buffer = Buffer.from(JSON.stringify(valid));
  for (let count = random.int(1, 4); count > 0; count -= 1) body = mutate(body, random);
  return { headers: json, body };
}

function mutate(body: Buffer, random: Random): Buffer {
  const at = random.int(0, Math.max(0, body.length - 1));
  const to = Math.min(body.length, at + random.int(1, 12));
  const [before, after] = [body.subarray(0, at), body.subarray(at)];
  const splice = Buffer.from(random.pick(splices), 'latin1');
  const results = [
    [before, Buffer.of(random.int(0, 255)), body.subarray(at + 1)],
    [before],
    [before, body.subarray(to)],
    [body.subarray(0, to), after],
    [before, splice, after],
    [after, before],
  ];
  return Buffer.concat(random.pick(results));
}
