import type { Router } from '@koa/router';
import type { Middleware } from 'koa';
import compose from 'koa-compose';

/**
 * The routes of a router that are named after their paths. A request for exactly such a path goes straight to its route; the
 * router matches all others, trying every expression and composing the route anew each time: test/bench/README.md
 * says what that costs.
 */
export function exactRoutes(router: Router): Middleware {
  const match = router.routes() as unknown as Middleware;
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

/** Says on the context which route it is, as the router does. */
function named(name: string, stack: Middleware[]): Middleware {
  const [only, ...more] = stack;
  const run = only && more.length === 0 ? only : compose(stack);
  return (ctx, next) => {
    ctx['_matchedRouteName'] = name;
    return run(ctx, next);
  };
}
