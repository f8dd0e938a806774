import { HttpMethod, RequestContext } from '@kubernetes/client-node/dist/gen/http/http.js';
import { IsomorphicFetchHttpLibrary } from '@kubernetes/client-node/dist/gen/http/isomorphic-fetch.js';
import { ApiError } from './api-error.ts';
import type { ClusterAccess } from './cluster-access.ts';

export interface ApiRequest {
  /** Names the request in error messages: `list Secrets`. */
  readonly action: string;
  /** Path on the API server. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number>>;
  /** Present: sends a POST with this JSON. Absent: sends a GET. */
  readonly body?: object;
  /** Sends the body as a JSON merge patch in place of a POST. */
  readonly patch?: boolean;
  readonly signal: AbortSignal;
}

/**
 * Returns the JSON of the answer.
 * @throws {ApiError} when the server refuses the request; else the error of the connection.
 */
export async function sendRequest(access: ClusterAccess, { action, path, query, body, patch, signal }: ApiRequest) {
  const method = body === undefined ? HttpMethod.GET : patch ? HttpMethod.PATCH : HttpMethod.POST;
  const request = new RequestContext(`${access.server}${path}`, method);
  for (const [name, value] of Object.entries(query ?? {})) request.setQueryParam(name, String(value));
  if (body !== undefined) {
    request.setHeaderParam('Content-Type', patch ? 'application/merge-patch+json' : 'application/json');
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

/** Returns the cause of a failed fetch: the library's own error says only "fetch failed". */
export function causeOf(error: unknown): unknown {
  return error instanceof TypeError && error.cause instanceof Error ? error.cause : error;
}

/** Parses JSON. The error of JSON.parse would quote the text, which may be a token. */
function parse(action: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${action}: the API server's answer is not JSON`);
  }
}

/** Returns the message of a Kubernetes Status; '' for any other answer. */
function reasonOf(text: string): string {
  try {
    const status = JSON.parse(text) as { kind?: unknown; message?: unknown } | null;
    return status?.kind === 'Status' && typeof status.message === 'string' ? status.message : '';
  } catch {
    return '';
  }
}
