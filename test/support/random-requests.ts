import * as fc from 'fast-check';
import type { Request } from './api-client.ts';
import { readToken } from './console.ts';
import type { OpenApiParameter } from './openapi.ts';
import { requestOf, type ReadEndpoint } from './read-requests.ts';

/** Texts that break parsers of numbers, times, ids, paths, queries and SQL. */
export const nasty = [
  ['', ' ', '0', '-1', '1e3', '0x10', '9'.repeat(25), 'NaN', 'null', '__proto__', 'constructor', '*', 'W/"x"'],
  ['\0', 'a\0b', '\u{1F680}', 'é'.repeat(500), 'x'.repeat(4_000), '%', '%25', '%2F', '../..', './', '//', ';', ','],
  ["'", "' or true --", '"', '\\', '\\%_', '$1', '{}', '[]', '\r\n', '\u2028', '<b>', '${1}', '0m', '999999m'],
  ['2026-02-30T00:00:00Z', '0000-01-01T00:00:00Z', '0001-01-01T00:00:00Z', '0001-01-01T00:00:00+23:59'],
  ['9999-12-31T23:59:59.999999999Z', '9999-12-31T23:59:59-23:59', '2026-01-01t24:00:00z', '2026-01-01T00:00:00'],
  ['00000000-0000-0000-0000-000000000000', 'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF', '7', '366d', '1h', '500', '501'],
  ['0001-01-01T00:00:00Z,00000000-0000-0000-0000-000000000000', 'AAAA', '1:1:', '1:9223372036854775808:'],
].flat();

/** Parts of an address that are not percent-encoded UTF-8, or in another form than usual. */
const odd = ['%', '%2', '%zz', '%ff', '%c0%80', '%ed%a0%80', '%2e%2e', '%2f', '%252f', '&', '#', '?', '+', '=', '/'];

/** An endpoint, and values that lead somewhere by the name of their parameter. */
export interface RequestMaterial {
  readonly endpoint: ReadEndpoint;
  readonly known: Readonly<Record<string, readonly string[]>>;
}

/** Requests of acme to an endpoint with each nasty text in each parameter, alone. */
export function nastyRequests({ endpoint, known }: RequestMaterial): Request[] {
  const method = endpoint.isStream ? 'HEAD' : 'GET';
  return endpoint.parameters.flatMap(({ name, in: place }) => {
    const values = [...nasty, ...(known[name] ?? [])];
    const texts = place === 'header' ? values.map(headerText) : [...values.map(encodeURIComponent), ...odd];
    const others = endpoint.parameters.filter((other) => other.in === 'path' && other.name !== name);
    const given = others.map((other) => [other.name, encodeURIComponent(known[other.name]?.[0] ?? '')] as const);
    return texts.map((text) => ({
      ...requestOf(endpoint, [...given, [name, text]], (one) => one),
      method,
    }));
  });
}

/** Requests of acme to the endpoints: right, wrong, and for the record of others. */
export function someRequest(materials: readonly RequestMaterial[]): fc.Arbitrary<Request> {
  return fc.oneof(...materials.map(requestTo));
}

function requestTo({ endpoint, known }: RequestMaterial): fc.Arbitrary<Request> {
  const parameters = endpoint.parameters.map((parameter) => {
    const pair = valueOf(parameter, known[parameter.name] ?? []).map((value) => [parameter.name, value] as const);
    return parameter.in === 'path' ? pair : sometimes(pair, 3);
  });
  const names = [...endpoint.parameters.map(({ name }) => name), 'colour', '__proto__', 'token', 'a[b]', ''];
  const more = sometimes(fc.tuple(fc.constantFrom(...names), inAddress(someText)), 20);
  // A GET of a stream has no end.
  const method = endpoint.isStream ? fc.constant('HEAD') : mostly('GET', fc.constantFrom('HEAD', 'POST', 'PURGE'));
  const token = mostly(readToken(), fc.constantFrom('write-token-of-acme', '', 'x'));
  const slash = mostly(endpoint.path, fc.constantFrom(endpoint.path.slice(0, -1), `${endpoint.path}/`));
  return fc.tuple(method, token, slash, fc.tuple(...parameters, more)).map(([method, token, path, pairs]) => {
    const given = pairs.filter((pair) => pair !== undefined);
    const request = requestOf({ ...endpoint, path }, given, (text) => text);
    return { ...request, method, headers: { ...request.headers, token } };
  });
}

const someText = fc.oneof(
  fc.constantFrom(...nasty),
  fc.string({ unit: 'binary', maxLength: 40 }).map((text) => text.toWellFormed()),
);

/** A value in the form of the request. */
function valueOf(parameter: OpenApiParameter, known: readonly string[]): fc.Arbitrary<string> {
  const { type, enum: words = type === 'boolean' ? ['true', 'false'] : [] } = parameter.schema;
  const examples = typeof parameter.example === 'string' ? [parameter.example] : [];
  const right = [...words, ...known, ...examples];
  const text =
    right.length === 0
      ? someText
      : fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...right) }, { weight: 1, arbitrary: someText });
  return parameter.in === 'header' ? text.map(headerText) : inAddress(text);
}

/** Node's client refuses other characters in a header. */
function headerText(text: string): string {
  return text.replaceAll(/[^\x20-\x7e\xa0-\xff]/g, '?');
}

function inAddress(text: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 30, arbitrary: text.map(encodeURIComponent) },
    { weight: 1, arbitrary: fc.constantFrom(...odd) },
  );
}

/** The usual value in 30 of 31 cases. */
function mostly(usual: string, other: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.oneof({ weight: 30, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: other });
}

/** One value for `without` undefined ones. */
function sometimes<T>(value: fc.Arbitrary<T>, without: number): fc.Arbitrary<T | undefined> {
  return fc.oneof({ weight: without, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value });
}
