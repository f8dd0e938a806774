import { HttpMethod, IsomorphicFetchHttpLibrary, RequestContext, type ResponseBody } from './client-node-quirks.ts';
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
  /** Sends the body as a patch instead of a POST: a JSON merge patch, or a server-side apply. */
  readonly patch?: 'merge' | 'apply';
  /** Longest answer in bytes, uncompressed. Default: 64 MiB. */
  readonly mostBytes?: number;
  readonly signal: AbortSignal;
}

const patchTypes = { merge: 'application/merge-patch+json', apply: 'application/apply-patch+yaml' } as const;

const defaultMostBytes = 64 * 1024 * 1024;

/** The answer has more bytes than the request allows. */
export class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge';
}

/**
 * Returns the JSON of the answer.
 * @throws {ApiError} when the server refuses the request, {@link AnswerTooLarge}, else the error of
 * the connection.
 */
export async function sendRequest(
  access: ClusterAccess,
  { action, path, query, body, patch, mostBytes = defaultMostBytes, signal }: ApiRequest,
) {
  const method = body === undefined ? HttpMethod.GET : patch === undefined ? HttpMethod.POST : HttpMethod.PATCH;
  const request = new RequestContext(`${access.server}${path}`, method);
  for (const [name, value] of Object.entries(query ?? {})) request.setQueryParam(name, String(value));
  if (body !== undefined) {
    request.setHeaderParam('Content-Type', patch === undefined ? 'application/json' : patchTypes[patch]);
    request.setBody(JSON.stringify(body));
  }
  request.setSignal(signal);
  await access.authenticate(request);
  try {
    const answer = await new IsomorphicFetchHttpLibrary().send(request).toPromise();
    const text = await readText(answer.body, action, mostBytes);
    if (answer.httpStatusCode < 300) return parse(action, text);
    throw new ApiError(action, answer.httpStatusCode, reasonOf(text));
  } catch (error) {
    throw causeOf(error);
  }
}

/** Reads a body up to a limit: one organization's huge annotations are in everybody's list. */
async function readText(body: ResponseBody, action: string, mostBytes: number): Promise<string> {
  const stream = body.stream?.();
  if (stream === undefined || stream === null) return body.text();
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop cancels the rest.
  for await (const piece of stream as AsyncIterable<Uint8Array>) {
    bytes += piece.length;
    if (bytes > mostBytes) throw new AnswerTooLarge(`${action}: the answer has more than ${mostBytes} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}

/** Returns the cause of a failed fetch, whose own error says only "fetch failed". */
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
