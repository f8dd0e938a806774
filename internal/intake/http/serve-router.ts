import type { Router } from '@koa/router';
import Koa, { type Context, type Middleware } from 'koa';
import { RequestError } from '../../kit/errors/request-error.ts';
import type { ApiMetrics } from './api-metrics.ts';
import type { Logger } from '../../kit/telemetry/logger.ts';
import type { Tracing } from '../../kit/telemetry/tracing.ts';
import { answerHeaders } from './answer-headers.ts';
import type { AuthenticatedState } from './authenticate.ts';
import { fastPath as createFastPath } from '../fast-path/fast-path.ts';
import type { Handler } from './http-stack.ts';
import { noRoute } from './no-route.ts';
import type { ShowError } from './page-route.ts';
import { plainKoa } from './plain-koa.ts';
import { answerProblem } from './problem.ts';
import { identifyRequests, requestIdOf } from './request-id.ts';
import { routeNameOf } from './koa-router-quirks.ts';
import { requireSecureTransport } from './secure-transport.ts';

export interface ServeOptions {
  /** The https address that redirects lead to. */
  publicUrl: URL;
  trustProxy: boolean;
  /** True selects `fast-path/`, false plain Koa. The API behaves the same. */
  fastPath: boolean;
  metrics: ApiMetrics;
  logger: Logger;
  /** Absent if traces are off. */
  tracing?: Tracing | undefined;
  /** Called with each refused request; may delay the answer. */
  onRefused?: ((ctx: Context, error: unknown) => Promise<void> | undefined) | undefined;
  /** Answers errors of pages; all others get problem documents. */
  showError?: ShowError | undefined;
  /** Called for each request that fails through no fault of its caller: with 503, or a defect. */
  onNotServed?: ((error: unknown) => void) | undefined;
}

/**
 * Serves the routes of an API. The order of the middleware is the order of the checks: 301,
 * 404/405, then those of the route. The 404 names `endpoints`.
 */
export function serveRouter(router: Router, endpoints: string, options: ServeOptions): Handler {
  const { publicUrl, trustProxy, metrics, logger, tracing } = options;
  const stack = options.fastPath ? createFastPath(publicUrl) : plainKoa;
  const app = new Koa();
  app.silent = true;
  app.on('error', (error: unknown, ctx?: Context) => reportDefect(error, ctx, logger));
  // The handler of the fast path identifies requests itself.
  if (!options.fastPath) app.use(identifyRequests);
  app.use(requireSecureTransport(publicUrl, trustProxy, metrics));
  if (tracing !== undefined) app.use(traceRequests(tracing));
  app.use(answer(options));
  app.use(stack.routes(router));
  app.use(noRoute(endpoints));
  return stack.handler(app);
}

/** Turns errors into answers. Counts and times every answer. */
function answer(options: ServeOptions): Middleware {
  const { publicUrl, fastPath, metrics, logger, onRefused, showError = () => false, onNotServed } = options;
  const fixed = answerHeaders(publicUrl);
  return async (ctx, next) => {
    const started = performance.now();
    if (!fastPath) ctx.set(fixed);
    try {
      requireHost(ctx);
      await next();
    } catch (error) {
      await onRefused?.(ctx, error);
      if (!showError(ctx, error)) answerProblem(ctx, error);
      if (ctx.status >= 500) onNotServed?.(error);
      reportError(ctx, error, logger);
    }
    // An answer that the fast path sent already has them.
    if (fastPath && !ctx.res.headersSent) ctx.set(fixed);
    metrics.requests.add(routeNameOf(ctx), ctx.method, ctx.status, (performance.now() - started) / 1_000);
  };
}

/** Logs defects as error, 503s as warn, client errors as info. */
function reportError(ctx: Context, error: unknown, logger: Logger): void {
  const { organization, tokenId } = ctx.state as Partial<AuthenticatedState>;
  const { method, status } = ctx;
  const request = { requestId: requestIdOf(ctx), method, route: routeNameOf(ctx), status, organization, tokenId };
  if (!(error instanceof RequestError)) logger.error({ ...request, error }, 'request failed unexpectedly');
  else if (status >= 500)
    logger.warn({ ...request, reason: error.message, error: error.cause }, 'request cannot be served now');
  else logger.info({ ...request, reason: error.code }, 'request refused');
}

/**
 * Logs an error that no middleware caught. Koa also reports connections that broke or were closed,
 * which are no defects, and answers that ended in the middle.
 */
function reportDefect(error: unknown, ctx: Context | undefined, logger: Logger): void {
  if (ctx?.req.socket.errored === error) return;
  if (error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE') return;
  if (error instanceof RequestError) logger.warn({ error, reason: error.message }, 'answer ended in the middle');
  else logger.error({ error }, 'request failed unexpectedly');
}

/**
 * Records a span for each request, in the trace that its `traceparent` names (W3C Trace Context).
 */
function traceRequests(tracing: Tracing): Middleware {
  return (ctx, next) =>
    tracing.serve(ctx.method, ctx.headers, next, () => ({
      route: routeNameOf(ctx),
      status: ctx.status,
      attributes: {
        'runledger.organization': (ctx.state as Partial<AuthenticatedState>).organization,
        'runledger.request_id': requestIdOf(ctx),
      },
    }));
}

/**
 * @throws {RequestError} for HTTP/1.1 without `Host` (RFC 9112, section 3.2), which Node would
 * answer without a problem document.
 */
function requireHost({ req }: Context): void {
  if (req.headers.host === undefined && req.httpVersion === '1.1') {
    throw new RequestError('malformed-request', 'The header Host is missing.');
  }
}
