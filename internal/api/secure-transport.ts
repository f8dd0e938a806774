import type { Context, Middleware } from 'koa';
import type { ApiMetrics } from '../telemetry/api-metrics.ts';

/**
 * Answers plain HTTP with 301 to the HTTPS address, for any method and path, and does not process
 * the request (ARCHITECTURE.md, "Contract"). HTTPS is a TLS socket, or `X-Forwarded-Proto: https`
 * with `trustProxy`. The answer to a ping does not repeat its key.
 */
export function requireSecureTransport(publicUrl: URL, trustProxy: boolean, metrics: ApiMetrics): Middleware {
  return (ctx, next) => {
    if (isSecure(ctx, trustProxy)) return next();
    metrics.plainHttp.inc({
      token: String(ctx.headers['token'] !== undefined || isPing(targetOf(ctx.req.url).pathname)),
    });
    ctx.status = 301;
    ctx.set('Location', httpsAddress(publicUrl, ctx.req.url ?? '/'));
    ctx.set('Cache-Control', 'no-store');
    ctx.body = '';
    return undefined;
  };
}

function isSecure(ctx: Context, trustProxy: boolean): boolean {
  if ('encrypted' in ctx.req.socket) return true;
  if (!trustProxy) return false;
  // Proxies append a value: our own proxy wrote the last one.
  const claimed = ctx.req.headers['x-forwarded-proto'];
  return claimed === 'https' || String(claimed).split(',').at(-1)?.trim().toLowerCase() === 'https';
}

/** True for a path that may hold a ping key. */
function isPing(path: string): boolean {
  return /(?<!\/v1)\/ping\/./.test(path);
}

function targetOf(requested = '/'): { pathname: string; search: string } {
  return URL.parse(requested, 'http://request.invalid') ?? { pathname: '/', search: '' };
}

/**
 * Returns an address under the public URL, never under `Host`: a caller could otherwise redirect
 * anywhere.
 */
function httpsAddress(publicUrl: URL, requested: string): string {
  const { pathname, search } = targetOf(requested);
  const address = new URL(publicUrl);
  const base = publicUrl.pathname.replace(/\/$/, '');
  address.pathname = base + (isPing(pathname) ? '/ping/' : pathname);
  address.search = isPing(pathname) ? '' : search;
  return address.href;
}
