import type { Context, Middleware } from 'koa';
import { RequestError } from '../errors/request-error.ts';

/** Follows the router: answers what no route took with 405 (the path is known, `Allow` says what it takes) or 404. */
export const refuseRoute: Middleware = (ctx) => {
  const allowed = allowedMethods(ctx);
  if (allowed.length === 0)
    throw new RequestError('not-found', 'There is nothing here. Try POST /v1/register/ or GET /v1/ping/.');
  ctx.set('Allow', allowed.join(', '));
  throw new RequestError('method-not-allowed', explain(ctx.method, allowed));
};

/** Methods of the routes with this path, as the router noted them on the context. */
function allowedMethods(ctx: Context): string[] {
  const matched = (ctx['matched'] ?? []) as { methods: string[] }[];
  return [...new Set(matched.flatMap(({ methods }) => methods))];
}

/** Most clients repeat a redirected POST as GET: the one who wonders about this 405 wants to know. */
function explain(method: string, allowed: string[]): string {
  const use = `${method} is not allowed here, use ${allowed.join(' or ')}.`;
  if (method !== 'GET') return use;
  return `${use} If you sent a POST over http, your client followed the redirect with a GET: post to the https address.`;
}
