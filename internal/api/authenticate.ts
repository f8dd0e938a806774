import type { Context, Middleware } from 'koa';
import { Refusal, unavailable } from '../event/refusal.ts';

/** Whose token it is. `not-loaded`: the token set has never been read, so nobody can tell. */
export type Authentication =
  { status: 'known'; organization: string } | { status: 'unknown' } | { status: 'not-loaded' };

export type Authenticate = (token: string) => Authentication;

/** What is known of a request once its token has been checked. */
export interface AuthenticatedState {
  organization: string;
}

/** Requires the header `token` (spec, "Authentication"). Never 401 before the tokens are loaded: a caller may drop the event. */
export function requireToken(authenticate: Authenticate): Middleware<AuthenticatedState> {
  return async (ctx, next) => {
    ctx.state.organization = organizationOf(ctx, authenticate);
    return next();
  };
}

function organizationOf(ctx: Context, authenticate: Authenticate): string {
  const token = ctx.get('token').trim();
  const result = authenticate(token);
  if (result.status === 'not-loaded') throw unavailable('Tokens are not loaded yet.');
  if (token === '') throw new Refusal('unauthorized', 'The header token is missing.');
  if (result.status === 'unknown') throw new Refusal('unauthorized', 'The token is not valid.');
  return result.organization;
}
