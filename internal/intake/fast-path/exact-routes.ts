import type { Router } from '@koa/router';
import type { Middleware } from 'koa';
import compose from 'koa-compose';
import { nameRoute, routesOf } from '../http/koa-router-quirks.ts';

/**
 * Serves routes whose names are their paths: a request for exactly such a path goes straight to its
 * route. The router handles all others; it tries each expression and composes the route anew for
 * each request.
 */
export function exactRoutes(router: Router): Middleware {
  const match = routesOf(router);
  const routes = new Map<string, Map<string, Middleware>>();
  for (const { name = '', methods, stack } of router.stack) {
    const route = named(name, stack as Middleware[]);
    routes.set(name, new Map(methods.map((method) => [method, route])));
  }
  return (ctx, next) => {
    const { url = '', method = '' } = ctx.req;
    const route = routes.get(url)?.get(method) ?? match;
    return route(ctx, next);
  };
}

/** Sets the route's name on the context, as the router does. */
function named(name: string, stack: Middleware[]): Middleware {
  const [only, ...more] = stack;
  const run = only && more.length === 0 ? only : compose(stack);
  return (ctx, next) => {
    nameRoute(ctx, name);
    return run(ctx, next);
  };
}
