import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { ClusterAccess } from './cluster-access.ts';

export interface RequestToOpen {
  readonly method: 'GET' | 'POST' | 'PATCH';
  /** Path on the API server. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean>> | undefined;
  readonly content?: { readonly type: string; readonly text: string } | undefined;
  /** Ends the request, or its answer. */
  readonly signal: AbortSignal;
}

/** The head of an answer, whose body is still to be read. */
export interface OpenAnswer {
  readonly status: number;
  readonly body: IncomingMessage;
}

/**
 * Sends a request with Node's own client: the one of the Kubernetes library, undici, takes 20 MB
 * of memory. Resolves with the head of the answer. Rejects with the error of the connection.
 */
export async function openRequest(access: ClusterAccess, request: RequestToOpen): Promise<OpenAnswer> {
  const { method, path, query = {}, content, signal } = request;
  const url = new URL(`${access.server}${path}`);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
  const credentials = await access.authenticate();
  signal.throwIfAborted();
  const own = { 'User-Agent': 'runledger', ...(content && { 'Content-Type': content.type }) };
  const { request: send } = url.protocol === 'https:' ? https : http;
  const sent = send(url, { ...credentials, method, headers: { ...credentials.headers, ...own }, signal });
  // The reader of the body gets a later error.
  sent.on('error', () => undefined);
  sent.end(content?.text);
  const [body] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: body.statusCode ?? 0, body };
}
