import type { Context } from 'koa';
import { RequestError, type FieldError } from '../../kit/errors/request-error.ts';
import { givenToken } from '../http/authenticate.ts';
import { isSignal, signalOf, type Signal } from './ping-signal.ts';
import { urlNamespace, uuid5 } from '../../kit/uuid5.ts';

/** The namespace of slugs. docs/report/pings.md tells users how to compute the automation. */
const slugNamespace = uuid5(urlNamespace, 'ping');

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
const slug = /^[\w-]{1,100}$/;

/** What the address of a ping says, after the ping key. */
export interface PingAddress {
  /** For a slug, the same id in any letter case. */
  readonly automation: string;
  /** The name of the automation, if the address has a slug. */
  readonly name: string | undefined;
  readonly signal: Signal;
  /** UUIDs are in lower case, as Healthchecks compares them. */
  readonly rid: string | undefined;
}

/** Parses an address of `/ping/`. @throws {RequestError} 400, or 404 for an unknown signal. */
export function pingAddressOf(ctx: Context): PingAddress {
  const { automation, word } = partsOf(ctx);
  const signal = signalOf(word);
  const rid = ridOf(ctx);
  if (uuid.test(automation)) return { automation, name: undefined, signal, rid };
  if (!slug.test(automation) || isSignal(automation)) {
    throw invalidAddress([
      { parameter: 'automation_id', detail: 'must be a UUID or a slug: 1 to 100 of a-z, 0-9, - and _' },
    ]);
  }
  const name = automation.toLowerCase();
  return { automation: uuid5(slugNamespace, name), name, signal, rid };
}

/**
 * The ping key of a request; empty without one. A client that addresses checks only by UUID has no
 * place for the key in the address. Its key comes like a token, or as Healthchecks' clients send
 * theirs.
 */
export function pingKeyOf(ctx: Context): string {
  return partsOf(ctx).key;
}

interface Parts {
  key: string;
  automation: string;
  word: string | undefined;
}

/** The path `/ping/` alone has no parameters. */
function partsOf(ctx: Context): Parts {
  const { key = '', automation, signal: word } = (ctx['params'] ?? {}) as Partial<Record<string, string>>;
  const { 'x-api-key': apiKey } = ctx.headers;
  const given = givenToken(ctx.headers) || (typeof apiKey === 'string' ? apiKey : '');
  const isApart = given !== '' && uuid.test(key) && word === undefined && isSignal(automation ?? '0');
  return isApart ? { key: given, automation: key, word: automation } : { key, automation: automation ?? '', word };
}

function ridOf(ctx: Context): string | undefined {
  if (ctx.querystring === '') return undefined;
  const { rid } = ctx.query;
  if (Array.isArray(rid)) throw invalidAddress([{ parameter: 'rid', detail: 'must be given once' }]);
  return rid !== undefined && uuid.test(rid) ? rid.toLowerCase() : rid;
}

/** Returns a 400 that names the parameters of an address. */
export function invalidAddress(faults: readonly FieldError[]): RequestError {
  return new RequestError('malformed-request', 'The address of the ping is not valid; see errors.', faults);
}
