import type { Context, Middleware } from 'koa';
import type { ApiMetrics } from './api-metrics.ts';
import { pathWithoutSecret } from './secret-target.ts';

/** The headers that carry a token, or a ping key. */
const secretHeaders = ['token', 'authorization', 'x-api-key'] as const;

/**
 * Answers plain HTTP with 301 to the HTTPS address, for any method and path, without processing the
 * request (docs/report/events.md). HTTPS means a TLS socket, or `X-Forwarded-Proto: https` with
 * `trustProxy`. The answer does not repeat a secret in the address, such as a ping key.
 */
export function requireSecureTransport(publicUrl: URL, trustProxy: boolean, metrics: ApiMetrics): Middleware {
  return (ctx, next) => {
    if (isSecure(ctx, trustProxy)) return next();
    const requested = ctx.req.url ?? '/';
    const instead = pathWithoutSecret(requested);
    const hasToken = instead !== undefined || secretHeaders.some((name) => ctx.headers[name] !== undefined);
    metrics.plainHttp.inc({ token: String(hasToken) });
    ctx.status = 301;
    ctx.set('Location', httpsAddress(publicUrl, instead ?? requested));
    ctx.set('Cache-Control', 'no-store');
    ctx.body = '';
    return undefined;
  };
}

function isSecure(ctx: Context, trustProxy: boolean): boolean {
  if ('encrypted' in ctx.req.socket) return true;
  if (!trustProxy) return false;
  // Proxies append a value, so our own proxy wrote the last one.
  const claimed = ctx.req.headers['x-forwarded-proto'];
  return claimed === 'https' || String(claimed).split(',').at(-1)?.trim().toLowerCase() === 'https';
}

/**
 * Returns an address under the public URL, never under `Host`, with which a caller could redirect
 * anywhere.
 */
function httpsAddress(publicUrl: URL, requested: string): string {
  const { pathname, search } = URL.parse(requested, 'http://request.invalid') ?? { pathname: '/', search: '' };
  const address = new URL(publicUrl);
  address.pathname = publicUrl.pathname.replace(/\/$/, '') + pathname;
  address.search = search;
  return address.href;
}
