import { capturesOf } from '../intake/http/koa-router-quirks.ts';
import { Fault } from '../readapi/fault.ts';
import { storableText, uuid, type Parameter } from '../readapi/parameters.ts';
import { decodeStrictly } from '../readapi/query.ts';
import { RequestError } from '../kit/errors/request-error.ts';
import type { Visit } from './visit.ts';

/** The automation in an address. @throws {RequestError} 404 for a malformed id. */
export function automationOf(visit: Visit): string {
  return segment(visit, 1, uuid);
}

/** The event in an address. @throws {RequestError} 404 for a malformed id. */
export function eventOf(visit: Visit): string {
  return segment(visit, 1, uuid);
}

/** The execution in an address. @throws {RequestError} 404 for a malformed id. */
export function executionIdOf(visit: Visit): string {
  return segment(visit, 2, storableText(1, 500));
}

/** The channel in an address. @throws {RequestError} 404 for a malformed name. */
export function channelOf(visit: Visit): { namespace: string; name: string } {
  const name = storableText(1, 253);
  return { namespace: segment(visit, 1, name), name: segment(visit, 2, name) };
}

/** Decodes a segment; the router leaves an invalid one as it is. */
function segment({ ctx }: Visit, index: number, read: Parameter<string>): string {
  const text = decodeStrictly(capturesOf(ctx)[index] ?? '');
  const value = text instanceof Fault ? text : read(text);
  if (value instanceof Fault) throw nothingHere();
  return value;
}

/** 404, with a sentence on why there may be no such page. */
export function nothingHere(why = 'The address is wrong, or its page is gone.'): RequestError {
  return new RequestError('not-found', why);
}
