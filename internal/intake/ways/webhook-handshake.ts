import type { Context, Middleware } from 'koa';
import { RequestError } from '../../kit/errors/request-error.ts';

/** A DNS expression such as `events.example.com`. */
const originForm = /^[\w.*-]{1,253}$/;

/**
 * Answers the validation request of a webhook sender (HTTP 1.1 Web Hooks for Event Delivery,
 * section 4): an OPTIONS without a token, which grants no access. Passes other requests to `route`.
 * `rate`: events a second that an organization may send; 0 for no limit.
 */
export function webhookHandshake<State>(rate: number, route: Middleware<State>): Middleware<State> {
  return (ctx, next) => {
    if (ctx.method !== 'OPTIONS') return route(ctx, next);
    const origin = originOf(ctx);
    ctx.set('Allow', 'POST');
    if (origin === undefined) throw new RequestError('method-not-allowed', 'OPTIONS is not allowed here, use POST.');
    // The header counts requests a minute.
    ctx.set({ 'WebHook-Allowed-Origin': origin, 'WebHook-Allowed-Rate': rate === 0 ? '*' : String(60 * rate) });
    ctx.status = 200;
    ctx.body = '';
    return undefined;
  };
}

function originOf({ headers }: Pick<Context, 'headers'>): string | undefined {
  const { 'webhook-request-origin': origin } = headers;
  return typeof origin === 'string' && originForm.test(origin) ? origin : undefined;
}
