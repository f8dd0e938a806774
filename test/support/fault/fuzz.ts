import { optionalFields } from '../../../internal/event/fields.ts';
import { randomUUID } from 'node:crypto';
import * as fc from 'fast-check';
import type { Random } from './random.ts';

/** A request that somebody might send to `/v1/register/`. */
export interface FuzzedRequest {
  headers: Record<string, string>;
  body: Buffer;
}

/** The automations that fuzzed events name, so that what was stored of them can be counted. */
export const automations = Array.from({ length: 4 }, () => randomUUID());

const json = { 'content-type': 'application/json' };

/** Any UTF-16, also U+0000 and halves of surrogate pairs, and what parsers stumble over. */
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.constantFrom(
    '',
    ' ',
    '\0',
    '\ud800',
    '\udfff\ud800',
    'null',
    '{}',
    "'; drop table events; --",
    '\u2028',
    '\uFEFF',
    'a\\',
    '%00',
    '${x}',
  ),
  fc.integer({ min: 254, max: 257 }).map((length) => 'x'.repeat(length)),
  fc.constantFrom('y'.repeat(10_000), 'y'.repeat(10_001), '🎉'.repeat(10_000)),
);
const anything = fc.oneof(
  { weight: 5, arbitrary: text },
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom(1e308, -0, 2 ** 53),
);
const automation = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...automations) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      ...automations.map((id) => id.toUpperCase()),
      `{${automations[0]}}`,
      automations[0]?.replaceAll('-', ''),
    ),
  },
  { weight: 1, arbitrary: anything },
);
const kind = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom('START', 'EVENT', 'WARNING', 'ERROR', 'END') },
  { weight: 1, arbitrary: fc.constantFrom('start', 'STOP', 'START ', '') },
  { weight: 1, arbitrary: anything },
);
const mostly = <T>(good: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 6, arbitrary: good }, { weight: 1, arbitrary: anything });

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

const document = fc.oneof(
  { weight: 12, arbitrary: event },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 4 }) },
  { weight: 1, arbitrary: fc.array(event, { maxLength: 3 }) },
);

const headerText = fc.string({
  unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCodePoint(code)),
  maxLength: 40,
});
const headers = fc.oneof(
  { weight: 10, arbitrary: fc.constant<Record<string, string>>(json) },
  fc
    .constantFrom(
      'text/plain',
      'application/json; charset=latin1',
      'application/json;charset=utf-8',
      'multipart/form-data',
      '',
      'application/JSON',
      'application/x-www-form-urlencoded',
    )
    .map((type): Record<string, string> => ({ 'content-type': type })),
  fc
    .constantFrom('gzip', 'br', 'identity', 'deflate, gzip', 'x')
    .map((encoding): Record<string, string> => ({ ...json, 'content-encoding': encoding })),
  headerText.map((key): Record<string, string> => ({ ...json, 'idempotency-key': key })),
  fc.uuid().map((key): Record<string, string> => ({ ...json, 'idempotency-key': `"${key}"` })),
  headerText.map((value): Record<string, string> => ({
    ...json,
    'x-forwarded-for': value,
    'x-request-id': value,
    traceparent: value,
    forwarded: value,
  })),
);

const request: fc.Arbitrary<FuzzedRequest> = fc.record({
  headers,
  body: document.map((value) => Buffer.from(JSON.stringify(value))),
});

/** Requests that know the schema and get it nearly right. */
export function schemaAware(seed: number, count: number): FuzzedRequest[] {
  return fc.sample(request, { seed, numRuns: count });
}

const splices = [
  '"',
  '\\',
  '{',
  '[',
  '\0',
  '\\u0000',
  '\\ud800',
  '\xff',
  ',',
  ':',
  '1e999',
  '\r\n',
  '"__proto__":',
  '\xc0\x80',
  '\xed\xa0\x80',
  '/*',
];

/** A valid event some of whose bytes have been changed, cut, doubled or put elsewhere. */
export function mutated(random: Random): FuzzedRequest {
  const valid = {
    automation_id: random.pick(automations),
    execution_id: `fuzz ${random.int(1, 500)}`,
    event: random.pick(['START', 'EVENT', 'WARNING', 'ERROR', 'END']),
    description: random.pick(['plain', 'ümläut', '🎉 emoji', '\\"quoted\\"']),
  };
  let body: Buffer = Buffer.from(JSON.stringify(valid));
  for (let count = random.int(1, 4); count > 0; count -= 1) body = mutate(body, random);
  return { headers: json, body };
}

function mutate(body: Buffer, random: Random): Buffer {
  const at = random.int(0, Math.max(0, body.length - 1));
  const to = Math.min(body.length, at + random.int(1, 12));
  switch (random.int(0, 5)) {
    case 0:
      return Buffer.concat([body.subarray(0, at), Buffer.of(random.int(0, 255)), body.subarray(at + 1)]);
    case 1:
      return body.subarray(0, at);
    case 2:
      return Buffer.concat([body.subarray(0, at), body.subarray(to)]);
    case 3:
      return Buffer.concat([body.subarray(0, to), body.subarray(at)]);
    case 4:
      return Buffer.concat([body.subarray(0, at), Buffer.from(random.pick(splices), 'latin1'), body.subarray(at)]);
    default:
      return Buffer.concat([body.subarray(at), body.subarray(0, at)]);
  }
}
