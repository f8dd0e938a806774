import type { Router } from '@koa/router';
import type { Middleware } from 'koa';
import compose from 'koa-compose';
import { nameRoute, routesOf } from '../http/koa-router-quirks.ts';

/**
 * Serves routes whose names are their paths: a request for exactly such a path goes straight to its
 * route, and so does one for a path of a route with parameters that alone begins so. The router
 * handles all others; it tries each expression and composes the route anew for each request.
 */
export function exactRoutes(router: Router): Middleware {
  const match = routesOf(router);
  const routes = new Map<string, Map<string, Middleware>>();
  const below = new Map<string, Map<string, Middleware>>();
  for (const layer of router.stack) {
    const { name = '', methods } = layer;
    const route = named(name, layer.stack as Middleware[]);
    routes.set(name, new Map(methods.map((method) => [method, route])));
    const isAlone = router.stack.filter((each) => each.name?.startsWith(name)).length === 1;
    if (layer.paramNames.length === 0 || !firstPart.test(name) || !isAlone) continue;
    const withParams: Middleware = (ctx, next) => {
      const { path } = ctx;
      if (!layer.match(path)) return match(ctx, next);
      ctx['params'] = layer.params(path, layer.captures(path));
      return route(ctx, next);
    };
    below.set(name, new Map(methods.map((method) => [method, withParams])));
  }
  return (ctx, next) => {
    const { url = '', method = '' } = ctx.req;
    const route = routes.get(url) ?? below.get(url.slice(0, url.indexOf('/', 1) + 1));
    return (route?.get(method) ?? match)(ctx, next);
  };
}

/** A name such as `/ping/`. */
const firstPart = /^\/[\w-]+\/$/;

/** Sets the route's name on the context, as the router does. */
function named(name: string, stack: Middleware[]): Middleware {
  const [only, ...more] = stack;
  const run = only && more.length === 0 ? only : compose(stack);
  return (ctx, next) => {
    nameRoute(ctx, name);
    return run(ctx, next);
  };
}
