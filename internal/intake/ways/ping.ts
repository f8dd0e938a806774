import type { Middleware } from 'koa';
import type { AuthenticatedState } from '../http/authenticate.ts';

/**
 * `/v1/ping/`: confirms that token and network access work, and names the token's scope. Uses
 * neither Redis nor Postgres; caches must not store the answer.
 */
export function ping(): Middleware<AuthenticatedState> {
  return (ctx) => {
    ctx.type = 'application/json';
    ctx.set('Cache-Control', 'no-store');
    ctx.body = JSON.stringify({
      status: 'ok',
      organization: ctx.state.organization,
      scope: ctx.state.scope,
      time: new Date().toISOString(),
    });
  };
}
