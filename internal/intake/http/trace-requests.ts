import type { Middleware } from 'koa';
import type { Tracing } from '../../kit/telemetry/tracing.ts';
import type { AuthenticatedState } from './authenticate.ts';
import { requestIdOf } from './request-id.ts';
import { routeNameOf } from './route-name.ts';

/**
 * Records a span for each request, in the trace that its `traceparent` names (W3C Trace Context).
 */
export function traceRequests(tracing: Tracing): Middleware {
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
