import { text } from 'node:stream/consumers';
import { ApiError } from './api-error.ts';
import type { ClusterAccess } from './cluster-access.ts';
import { openRequest } from './open-request.ts';

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
  const method = body === undefined ? 'GET' : patch ? 'PATCH' : 'POST';
  const type = patch ? 'application/merge-patch+json' : 'application/json';
  const content = body && { type, text: JSON.stringify(body) };
  try {
    const { status, body: answer } = await openRequest(access, { method, path, query, content, signal });
    const received = await text(answer);
    if (status < 300) return parse(action, received);
    throw new ApiError(action, status, reasonOf(received));
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
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
export function reasonOf(text: string): string {
  try {
    const status = JSON.parse(text) as { kind?: unknown; message?: unknown } | null;
    return status?.kind === 'Status' && typeof status.message === 'string' ? status.message : '';
  } catch {
    return '';
  }
}
