import type { Request } from './api-client.ts';
import { readOpenApi, type OpenApiOperation, type OpenApiParameter } from './openapi.ts';

/** A read endpoint of openapi.yaml. */
export interface ReadEndpoint {
  readonly path: string;
  readonly parameters: readonly OpenApiParameter[];
  /** True if the answer has no end. */
  readonly isStream: boolean;
}

/**
 * The endpoints that need a read token, without those of the log: its answers are no JSON, and its
 * ids lead to one organization each. test/integration/read/log.test.ts has the same checks for it.
 */
export async function readEndpoints(): Promise<ReadEndpoint[]> {
  const { paths } = await readOpenApi({ dereferenced: true });
  return Object.entries(paths).flatMap(([path, { get }]) =>
    get?.tags?.includes('record') === true && !path.startsWith('/v1/log/') ? [endpointOf(path, get)] : [],
  );
}

function endpointOf(path: string, { parameters = [], responses }: OpenApiOperation): ReadEndpoint {
  return {
    path,
    parameters,
    isStream: responses['200']?.content?.['text/event-stream'] !== undefined,
  };
}

/** Names of parameters with their values. */
export type Given = readonly (readonly [name: string, value: string])[];

/**
 * A request of an endpoint: each value is where the document has its parameter, or in the query
 * if it has none. `encode` writes the values of path and query.
 */
export function requestOf(
  { path, parameters }: Pick<ReadEndpoint, 'path' | 'parameters'>,
  given: Given,
  encode: (value: string) => string = encodeURIComponent,
): Request {
  const headers: Record<string, string> = {};
  const query: string[] = [];
  let address = path;
  for (const [name, value] of given) {
    const place = parameters.find((parameter) => parameter.name === name)?.in ?? 'query';
    if (place === 'header') headers[name] = value;
    else if (place === 'path') address = address.replace(`{${name}}`, () => encode(value));
    else query.push(`${encodeURIComponent(name)}=${encode(value)}`);
  }
  return { path: query.length === 0 ? address : `${address}?${query.join('&')}`, headers };
}
