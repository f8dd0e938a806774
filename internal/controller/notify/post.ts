import type { IncomingMessage } from 'node:http';
import { request, type Agent } from 'node:https';
import { storable } from '../../event/stored-text.ts';

export interface PostOptions {
  agent: Agent;
  headers: Readonly<Record<string, string>>;
  body: string;
  /** Maximum time until the status arrives, in ms. */
  timeoutMs: number;
}

/** The answer to a POST. */
export interface PostAnswer {
  status: number;
  /** How long the receiver asks us to wait after a refusal, in ms. */
  retryAfterMs: number;
  /** How long its next request would be refused although this one was not, in ms. */
  pauseMs: number;
  /** The first part of the body, on one line. */
  text: string;
}

/** Maximum bytes read of an answer, the maximum time for that, in ms, and the characters kept. */
const mostBytes = 64 * 1024;
const drainMs = 1_000;
const mostKept = 200;

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
    const answer = {
      status: response.statusCode ?? 0,
      retryAfterMs: retryAfterOf(response),
      pauseMs: pauseOf(response),
    };
    void drain(response).then((text) => resolve({ ...answer, text }));
  });
  sent.end(body);
  return promise;
}

/**
 * Reads a short body to its end, so that the connection closes cleanly. Resolves with its first
 * part.
 */
function drain(response: IncomingMessage): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const end = setTimeout(() => response.destroy(), drainMs);
  let bytes = 0;
  let first = '';
  response.on('error', () => undefined);
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (first.length < mostKept) first += chunk.toString('utf8', 0, 4 * mostKept);
    if (bytes > mostBytes) response.destroy();
  });
  response.once('close', () => {
    clearTimeout(end);
    resolve(storable(first.replaceAll(/\s+/g, ' ').trim(), mostKept));
  });
  return promise;
}

/** `Retry-After` in seconds, of which Discord sends fractions, or as a date. */
function retryAfterOf({ headers, statusCode }: IncomingMessage): number {
  const text = headers['retry-after'] ?? '';
  if (statusCode !== 429 && statusCode !== 503) return 0;
  if (/^\d{1,9}(\.\d{1,6})?$/.test(text)) return Math.ceil(Number(text) * 1_000);
  const at = Date.parse(text);
  return Number.isNaN(at) ? 0 : Math.max(0, at - Date.now());
}

/** Discord says with each answer how many requests are left, and until when. */
function pauseOf({ headers }: IncomingMessage): number {
  const seconds = Number(headers['x-ratelimit-reset-after']);
  return headers['x-ratelimit-remaining'] === '0' && seconds > 0 && seconds < 86_400 ? Math.ceil(seconds * 1_000) : 0;
}
