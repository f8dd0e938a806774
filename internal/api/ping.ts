import type { Middleware } from 'koa';
import type { AuthenticatedState } from './authenticate.ts';

/** `/v1/ping/`: says that token and network access work. Touches neither Redis nor Postgres. */
export function ping(): Middleware<AuthenticatedState> {
  return (ctx) => {
    ctx.type = 'application/json';
    ctx.body = JSON.stringify({
      status: 'ok',
      organization: ctx.state.organization,
      time: new Date().toISOString(),
    });
  };
}
