import type { Middleware } from 'koa';
import { RequestError } from '../../kit/errors/request-error.ts';
import { methodsAt } from './koa-router-quirks.ts';

/**
 * Answers requests that no route matches: 405 with `Allow` for a known path, otherwise 404, which
 * names some `endpoints`. Use it after the router.
 */
export function noRoute(endpoints: string): Middleware {
  return (ctx) => {
    const allowed = methodsAt(ctx);
    if (allowed.length === 0) throw new RequestError('not-found', `There is nothing here. Try ${endpoints}.`);
    ctx.set('Allow', allowed.join(', '));
    throw new RequestError('method-not-allowed', explain(ctx.method, allowed));
  };
}

/** A GET gets a hint, because most clients repeat a redirected POST as GET. */
function explain(method: string, allowed: string[]): string {
  const use = `${method} is not allowed here, use ${allowed.join(' or ')}.`;
  if (method !== 'GET') return use;
  return `${use} If you sent a POST over http, your client followed the redirect with a GET: post to the https address.`;
}
