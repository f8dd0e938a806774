import type { Middleware } from 'koa';
import type { AuthenticatedState } from './authenticate.ts';

/**
 * `/v1/ping/`: says that token and network access work, and what the token may do. Touches neither
 * Redis nor Postgres, and is never answered by a cache.
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
