import { HttpMethod, RequestContext } from '@kubernetes/client-node/dist/gen/http/http.js';
import { IsomorphicFetchHttpLibrary } from '@kubernetes/client-node/dist/gen/http/isomorphic-fetch.js';
import { ApiError } from './api-error.ts';
import type { ClusterAccess } from './cluster-access.ts';

export interface ApiRequest {
  /** What is being done, for the message of an error: `list Secrets`. */
  readonly action: string;
  /** From the root of the API server. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number>>;
  /** Makes it a POST of this JSON. */
  readonly body?: object;
  readonly signal: AbortSignal;
}

/**
 * The JSON of the answer. Throws an ApiError when the server says no, or the error of the
 * connection.
 */
export async function sendRequest(access: ClusterAccess, { action, path, query, body, signal }: ApiRequest) {
  const request = new RequestContext(`${access.server}${path}`, body === undefined ? HttpMethod.GET : HttpMethod.POST);
  for (const [name, value] of Object.entries(query ?? {})) request.setQueryParam(name, String(value));
  if (body !== undefined) {
    request.setHeaderParam('Content-Type', 'application/json');
    request.setBody(JSON.stringify(body));
  }
  request.setSignal(signal);
  await access.authenticate(request);
  try {
    const answer = await new IsomorphicFetchHttpLibrary().send(request).toPromise();
    const text = await answer.body.text();
    if (answer.httpStatusCode < 300) return parse(action, text);
    throw new ApiError(action, answer.httpStatusCode, reasonOf(text));
  } catch (error) {
    throw causeOf(error);
  }
}

/** The error worth telling: the library's own says no more than "fetch failed". */
export function causeOf(error: unknown): unknown {
  return error instanceof TypeError && error.cause instanceof Error ? error.cause : error;
}

/** JSON.parse quotes what it cannot read, and that may be a token. */
function parse(action: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${action}: the API server's answer is not JSON`);
  }
}

/** The message of a Kubernetes Status; nothing of an answer of any other kind. */
function reasonOf(text: string): string {
  try {
    const status = JSON.parse(text) as { kind?: unknown; message?: unknown } | null;
    return status?.kind === 'Status' && typeof status.message === 'string' ? status.message : '';
  } catch {
    return '';
  }
}
