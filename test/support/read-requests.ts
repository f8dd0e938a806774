import type { OpenApiDocument, OpenApiParameter } from './openapi.ts';
import type { Request } from './api-client.ts';

/** A read endpoint of openapi.yaml. */
export interface ReadEndpoint {
  path: string;
  parameters: OpenApiParameter[];
}

/** The endpoints that need a read token. */
export function readEndpoints({ paths }: OpenApiDocument): ReadEndpoint[] {
  const entries = Object.entries(paths).map(([path, item]) => ({ path, get: item['get'] }));
  return entries.flatMap(({ path, get }) =>
    get?.responses['429'] === undefined ? [] : [{ path, parameters: get.parameters ?? [] }],
  );
}

/** A request of an endpoint with values for some parameters, and for all those of the path. */
export function requestOf({ path, parameters }: ReadEndpoint, values: ReadonlyMap<string, string>): Request {
  let address = path;
  const query: string[] = [];
  const headers: Record<string, string> = {};
  for (const { name, in: place } of parameters) {
    const value = values.get(name);
    if (value === undefined) continue;
    if (place === 'path') address = address.replace(`{${name}}`, encodeURIComponent(value));
    else if (place === 'query') query.push(`${name}=${encodeURIComponent(value)}`);
    else headers[name] = value;
  }
  return { path: query.length === 0 ? address : `${address}?${query.join('&')}`, headers };
}
