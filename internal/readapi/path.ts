import type { Context } from 'koa';
import { capturesOf } from '../intake/http/koa-router-quirks.ts';
import { Fault } from './fault.ts';
import { storableText, tokenId, uuid, type Parameter } from './parameters.ts';
import { decodeStrictly, malformedQuery } from './query.ts';

/** The parameters of paths: name → how its text is read. */
const pathParameters = {
  automation_id: uuid,
  execution_id: storableText(1, 500),
  event_id: uuid,
  token_id: tokenId,
} as const;

type PathParameter = keyof typeof pathParameters;

/**
 * Reads the named ids of a path such as `/v1/executions/{automation_id}/{execution_id}/`, in order.
 * An id is one percent-encoded segment, so it may hold `/` as `%2F`.
 * @throws {RequestError} that names each malformed id.
 */
export function readPath<Name extends PathParameter>(ctx: Context, ...names: Name[]): Record<Name, string> {
  const segments = capturesOf(ctx);
  const read = names.map((name, index) => [name, readSegment(segments[index] ?? '', pathParameters[name])] as const);
  const faults = read.flatMap(([parameter, value]) =>
    value instanceof Fault ? [{ parameter, detail: value.detail }] : [],
  );
  if (faults.length > 0) throw malformedQuery(faults);
  return Object.fromEntries(read) as Record<Name, string>;
}

function readSegment(segment: string, read: Parameter<string>): string | Fault {
  const text = decodeStrictly(segment);
  return text instanceof Fault ? text : read(text);
}
