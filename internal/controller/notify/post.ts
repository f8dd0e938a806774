import type { IncomingMessage } from 'node:http';
import { request, type Agent } from 'node:https';

export interface PostOptions {
  agent: Agent;
  headers: Readonly<Record<string, string>>;
  body: string;
  /** Maximum time until the status arrives, in ms. */
  timeoutMs: number;
}

/** The answer to a POST, without its body. */
export interface PostAnswer {
  status: number;
  /** How long the receiver asks us to wait, in ms. */
  retryAfterMs: number;
}

/** Maximum bytes read of an answer, and the maximum time for that, in ms. */
const mostBytes = 64 * 1024;
const drainMs = 1_000;

/**
 * Sends a POST request over HTTPS and resolves with the status once the connection is closed, so
 * that a receiver cannot hold more connections than attempts. Follows no redirect. Rejects without
 * a status in time, and for an address that the agent refuses.
 */
export function post(url: URL, { agent, headers, body, timeoutMs }: PostOptions): Promise<PostAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<PostAnswer>();
  const signal = AbortSignal.timeout(timeoutMs);
  const length = { 'Content-Length': String(Buffer.byteLength(body)) };
  const sent = request(url, { method: 'POST', agent, signal, headers: { ...headers, ...length } });
  sent.on('error', (error) => reject(signal.aborted ? new Error(`no answer within ${timeoutMs} ms`) : error));
  sent.on('response', (response) => {
    const answer = { status: response.statusCode ?? 0, retryAfterMs: retryAfterOf(response) };
    void drain(response).then(() => resolve(answer));
  });
  sent.end(body);
  return promise;
}

/** Reads a short body to its end, so that the connection closes cleanly. */
function drain(response: IncomingMessage): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = setTimeout(() => response.destroy(), drainMs);
  let bytes = 0;
  response.on('error', () => undefined);
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > mostBytes) response.destroy();
  });
  response.once('close', () => {
    clearTimeout(end);
    resolve();
  });
  return promise;
}

function retryAfterOf({ headers, statusCode }: IncomingMessage): number {
  const text = headers['retry-after'] ?? '';
  const counts = statusCode === 429 || statusCode === 503;
  return counts && /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : 0;
}
