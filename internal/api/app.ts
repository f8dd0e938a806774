import { Router } from '@koa/router';
import Koa, { type Context, type Middleware } from 'koa';
import { RequestError } from '../errors/request-error.ts';
import type { ApiMetrics } from '../telemetry/api-metrics.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import { requireToken, type Authenticate, type AuthenticatedState } from './authenticate.ts';
import { exactRoutes } from './fast-path/exact-routes.ts';
import { createHandler, type Handler } from './handler.ts';
import { createJsonBodyReader } from './json-body.ts';
import { ping } from './ping.ts';
import { answerProblem } from './problem.ts';
import { refuseRoute } from './refuse-route.ts';
import { register, type RegisterOptions } from './register.ts';
import { requestIdOf } from './request-id.ts';
import { requireHost } from './require-host.ts';
import { requireSecureTransport } from './secure-transport.ts';
import { traceRequests } from './trace-requests.ts';

export interface ApiOptions extends RegisterOptions {
  authenticate: Authenticate;
  publicUrl: URL;
  trustProxy: boolean;
  /** Largest body, in bytes. */
  bodyLimit: number;
  metrics: ApiMetrics;
  logger: Logger;
  /** Absent where traces are off. */
  tracing?: Tracing | undefined;
}

/**
 * The service of the specification. The order of the checks is the order of the middleware (design, section 2):
 * 301, 404/405, 401, 415/413, 400.
 */
export function createApi(options: ApiOptions): Handler {
  const { authenticate, publicUrl, trustProxy, bodyLimit, metrics, logger, tracing } = options;
  const router = new Router<AuthenticatedState>({ sensitive: true });
  const authenticated = requireToken(authenticate);
  const registering = authenticated(register(createJsonBodyReader(bodyLimit), options));
  // The router makes a trailing slash optional only where the path has none; the name is the specification's path.
  router.register('/v1/register', ['POST'], registering, { name: '/v1/register/' });
  router.register('/v1/ping', ['GET', 'HEAD', 'POST'], authenticated(ping()), { name: '/v1/ping/' });

  const app = new Koa();
  app.silent = true;
  app.on('error', (error: unknown) => logger.error({ error }, 'request failed unexpectedly'));
  app.use(requireSecureTransport(publicUrl, trustProxy, metrics));
  if (tracing !== undefined) app.use(traceRequests(tracing));
  app.use(answer(metrics, logger));
  app.use(exactRoutes(router));
  app.use(refuseRoute);
  return createHandler(app);
}

/** Turns errors into answers, and counts and times both. */
function answer(metrics: ApiMetrics, logger: Logger): Middleware {
  return async (ctx, next) => {
    const arrived = performance.now();
    try {
      requireHost(ctx);
      await next();
    } catch (error) {
      answerProblem(ctx, error);
      reportRefusal(ctx, error, logger);
    }
    metrics.requests.add(routeOf(ctx), ctx.method, ctx.status, (performance.now() - arrived) / 1_000);
  };
}

/** A human must act on defects; may have to on what the service cannot do now; callers mend the rest. */
function reportRefusal(ctx: Context, error: unknown, logger: Logger): void {
  const { organization } = ctx.state as Partial<AuthenticatedState>;
  const { method, status } = ctx;
  const request = { requestId: requestIdOf(ctx), method, route: routeOf(ctx), status, organization };
  if (!(error instanceof RequestError)) logger.error({ ...request, error }, 'request failed unexpectedly');
  else if (status >= 500) logger.warn({ ...request, reason: error.message }, 'request cannot be served now');
  else logger.info({ ...request, reason: error.code }, 'request refused');
}

function routeOf(ctx: Context): string {
  return String(ctx['_matchedRouteName'] ?? 'none');
}
