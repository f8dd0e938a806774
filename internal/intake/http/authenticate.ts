import type { IncomingHttpHeaders } from 'node:http';
import type { Context, Middleware, ParameterizedContext } from 'koa';
import { RequestError, Unavailable } from '../../kit/errors/request-error.ts';
import type { Scope } from '../../cluster/tokens/token-entry.ts';
import type { KnownToken } from '../../cluster/tokens/token-set.ts';
import type { Authentication } from '../../cluster/tokens/token-source.ts';
import { oneValue } from './one-value.ts';

/** The scopes of tokens: all but ping keys. */
export const tokenScopes = ['write', 'read', 'manage'] as const;

/** The state of a request whose token was checked. */
export type AuthenticatedState = {
  -readonly [Name in 'organization' | 'scope' | 'tokenId' | 'rate']: KnownToken[Name];
};

export type Authenticate = (token: string) => Authentication;

type Route = Middleware<AuthenticatedState>;

/**
 * Requires a token of one of the scopes before a route (docs/report/events.md): 401 without a valid
 * token, 403 with another scope, 503 until the tokens are loaded. All routes of a process share
 * `limitWrongTokens`.
 */
export function requireToken(
  authenticate: Authenticate,
  scopes: readonly Scope[],
  limitWrongTokens: () => Promise<void>,
): (route: Route) => Route {
  const refuse = async (headers: IncomingHttpHeaders): Promise<never> => {
    await limitWrongTokens();
    throw new RequestError('unauthorized', whyNoToken(headers) ?? 'The token is not valid.');
  };
  return (route) => (ctx, next) => {
    const { headers } = ctx.req;
    const result = authenticate(givenToken(headers));
    if (result.status === 'not-loaded') throw new Unavailable('Tokens are not loaded yet.', 'tokens-not-loaded');
    if (result.status === 'unknown') return refuse(headers);
    ctx.state.organization = result.organization;
    ctx.state.scope = result.scope;
    ctx.state.tokenId = result.tokenId;
    ctx.state.rate = result.rate;
    if (!scopes.includes(result.scope)) throw insufficientScope(scopes, result.scope);
    return route(ctx, next);
  };
}

/**
 * Requires a ping key in the address, before a route: 401 without a valid one, 403 for a token, 503
 * until the tokens are loaded. Answers may not be stored, nor reveal the address to another site.
 */
export function requirePingKey(
  authenticate: Authenticate,
  keyOf: (ctx: Context) => string,
  limitWrongTokens: () => Promise<void>,
): (route: Route) => Route {
  return (route) => async (ctx, next) => {
    ctx.set({ 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' });
    const result = authenticate(keyOf(ctx));
    if (result.status === 'not-loaded') throw new Unavailable('Tokens are not loaded yet.', 'tokens-not-loaded');
    if (result.status === 'unknown') {
      await limitWrongTokens();
      throw new RequestError('unauthorized', 'The ping key is not valid.');
    }
    const { organization, scope, tokenId, rate } = result;
    Object.assign(ctx.state, { organization, scope, tokenId, rate });
    if (scope !== 'ping') {
      throw new RequestError('insufficient-scope', 'This is a token, and not a ping key: never send it in an address.');
    }
    return route(ctx, next);
  };
}

/** True if the token of a request that is being served may still read that organization. */
export function mayStillRead(authenticate: Authenticate, ctx: ParameterizedContext<AuthenticatedState>): boolean {
  const result = authenticate(givenToken(ctx.req.headers));
  // A token that was valid stays valid until the tokens are loaded again.
  if (result.status !== 'known') return result.status === 'not-loaded';
  return result.scope === 'read' && result.organization === ctx.state.organization;
}

/** The token of a request; empty without one, or with two different ones. */
export function givenToken(headers: IncomingHttpHeaders): string {
  const token = headerToken(headers);
  if (headers.authorization === undefined) return token;
  const bearer = bearerToken(headers.authorization);
  if (token === '' || bearer === '') return token || bearer;
  return token === bearer ? token : '';
}

function headerToken({ token }: IncomingHttpHeaders): string {
  return typeof token === 'string' ? oneValue(token).trim() : '';
}

/** The token in `Authorization: Bearer …` (RFC 6750); empty for any other scheme. */
function bearerToken(authorization: string): string {
  return /^bearer +(.*)$/i.exec(authorization)?.[1]?.trim() ?? '';
}

function whyNoToken(headers: IncomingHttpHeaders): string | undefined {
  if (givenToken(headers) !== '') return undefined;
  if (headerToken(headers) !== '') return 'The headers token and Authorization have two different tokens: send one.';
  return 'The token is missing: send it in the header token, or as Authorization: Bearer.';
}

/** What each scope allows, in words. */
const allowed = {
  write: 'record events',
  read: 'read the record',
  manage: 'manage the organization',
  ping: 'ping',
} as const;

function insufficientScope(required: readonly Scope[], given: Scope): RequestError {
  if (given === 'ping') {
    return new RequestError('insufficient-scope', 'This is a ping key: it serves in addresses under /ping/ only.');
  }
  const [needed = 'write'] = required;
  const detail = `This token may ${allowed[given]}, and not ${allowed[needed]}: use a ${needed} token.`;
  return new RequestError('insufficient-scope', detail);
}
