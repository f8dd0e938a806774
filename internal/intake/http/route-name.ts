import type { Context } from 'koa';

/** `@koa/router` sets this property to the name of the route that it selects. */
const property = '_matchedRouteName';

/** Returns the path of the route that serves a request, or `none`. For metrics, logs and traces. */
export function routeNameOf(ctx: Context): string {
  return String(ctx[property] ?? 'none');
}

/** Sets the name of the route on the context, as the router does. */
export function nameRoute(ctx: Context, name: string): void {
  ctx[property] = name;
}
