import type { Router } from '@koa/router';
import type { Context, Middleware } from 'koa';

/*
 * What we use of @koa/router beyond its documentation and its types; test/unit/quirks.test.ts names
 * the version.
 */

/** The routes of a router. The types of its middleware know another Koa. */
export function routesOf(router: Router): Middleware {
  return router.routes() as unknown as Middleware;
}

/** The methods of the routes with the path of a request, which the router has handled. */
export function methodsAt(ctx: Context): string[] {
  const matched = (ctx['matched'] ?? []) as { methods: string[] }[];
  return [...new Set(matched.flatMap(({ methods }) => methods))];
}

/** The variable parts of a matched path, as they were sent: the router decodes them leniently. */
export function capturesOf(ctx: Context): readonly string[] {
  return ctx['captures'] as string[];
}

/** The property that the router sets to the name of the route that it selects. */
const nameProperty = '_matchedRouteName';

/** Returns the path of the route that serves a request, or `none`. For metrics, logs and traces. */
export function routeNameOf(ctx: Context): string {
  return String(ctx[nameProperty] ?? 'none');
}

/** Sets the name of the route on the context, as the router does. */
export function nameRoute(ctx: Context, name: string): void {
  ctx[nameProperty] = name;
}
