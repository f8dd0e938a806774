import { Fault } from '../readapi/fault.ts';
import { storableText, uuid, type Parameter } from '../readapi/parameters.ts';
import { decodeStrictly } from '../readapi/query.ts';
import { RequestError } from '../kit/errors/request-error.ts';
import type { Visit } from './visit.ts';

/** The automation in an address. @throws {RequestError} 404 for a malformed id. */
export function automationOf({ ctx }: Visit): string {
  return segment(ctx['captures'], 1, uuid);
}

/** The event in an address. @throws {RequestError} 404 for a malformed id. */
export function eventOf({ ctx }: Visit): string {
  return segment(ctx['captures'], 1, uuid);
}

/** The execution in an address. @throws {RequestError} 404 for a malformed id. */
export function executionIdOf({ ctx }: Visit): string {
  return segment(ctx['captures'], 2, storableText(1, 500));
}

/** The channel in an address. @throws {RequestError} 404 for a malformed name. */
export function channelOf({ ctx }: Visit): { namespace: string; name: string } {
  const name = storableText(1, 253);
  return { namespace: segment(ctx['captures'], 1, name), name: segment(ctx['captures'], 2, name) };
}

/** Decodes a segment; the router leaves an invalid one as it is. */
function segment(captures: unknown, index: number, read: Parameter<string>): string {
  const text = decodeStrictly((captures as string[])[index] ?? '');
  const value = text instanceof Fault ? text : read(text);
  if (value instanceof Fault) throw nothingHere();
  return value;
}

/** 404, with a sentence on why there may be no such page. */
export function nothingHere(why = 'The address is wrong, or its page is gone.'): RequestError {
  return new RequestError('not-found', why);
}
