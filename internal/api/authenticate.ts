import type { Middleware } from 'koa';
import { RequestError, unavailable } from '../errors/request-error.ts';
import { createWrongTokenLimiter } from './wrong-token-limiter.ts';

/** Whose token it is. `not-loaded`: the token set has never been read, so nobody can tell. */
export type Authentication =
  { status: 'known'; organization: string } | { status: 'unknown' } | { status: 'not-loaded' };

export type Authenticate = (token: string) => Authentication;

/** What is known of a request once its token has been checked. */
export interface AuthenticatedState {
  organization: string;
}

type Route = Middleware<AuthenticatedState>;

/**
 * Requires the header `token` before a route (ARCHITECTURE.md, "Contract"). Never 401 before the
 * tokens are loaded: a caller may drop the event.
 */
export function requireToken(authenticate: Authenticate): (route: Route) => Route {
  const limitWrongTokens = createWrongTokenLimiter();
  const refuse = async (token: string): Promise<never> => {
    await limitWrongTokens();
    throw new RequestError('unauthorized', token === '' ? 'The header token is missing.' : 'The token is not valid.');
  };
  return (route) => (ctx, next) => {
    const token = tokenOf(ctx.req.headers['token']);
    const result = authenticate(token);
    if (result.status === 'not-loaded') throw unavailable('Tokens are not loaded yet.');
    if (result.status === 'unknown') return refuse(token);
    ctx.state.organization = result.organization;
    return route(ctx, next);
  };
}

function tokenOf(header: string | string[] | undefined): string {
  return typeof header === 'string' ? header.trim() : '';
}
