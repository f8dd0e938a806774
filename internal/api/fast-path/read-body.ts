import type { IncomingMessage } from 'node:http';
import { bodyUnreadable } from '../body-errors.ts';
import type { ReadBytes } from '../http-stack.ts';
import { collectBody } from '../plain-koa.ts';
import { WholeBodyRequest } from './whole-body-request.ts';

/**
 * Creates a reader that needs no parser for a body with a Content-Length: Node reads exactly so
 * many bytes. The caller checks that length against `limit`, in bytes. koa-bodyparser collects a
 * body without a length.
 */
export function readBody(limit: number, types?: readonly string[]): ReadBytes {
  const collect = collectBody(limit, types);
  return (ctx) => {
    const { 'content-length': length } = ctx.req.headers;
    if (length === undefined) return collect(ctx);
    return wholeBody(ctx.req, Number(length)) ?? bytesOf(ctx.req, Number(length));
  };
}

/**
 * Returns the body at once if Node has read all of it, so that the API accepts events in the order
 * of arrival. Undefined otherwise.
 */
function wholeBody(request: IncomingMessage, length: number): Buffer | undefined {
  const body = request instanceof WholeBodyRequest ? request.takeBody() : undefined;
  if (body !== undefined || request.readableLength !== length) return body;
  return (request.read() as Buffer | null) ?? Buffer.alloc(0);
}

/**
 * Resolves with the bytes of a body that arrives in pieces. Rejects if the connection breaks before
 * its end.
 */
function bytesOf(request: IncomingMessage, length: number): Promise<Buffer> {
  if (request.destroyed) return Promise.reject(bodyUnreadable());
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let missing = length;
    request.on('data', (chunk: Buffer) => {
      missing -= chunk.length;
      chunks.push(chunk);
      if (missing === 0) resolve(Buffer.concat(chunks));
    });
    request.on('error', () => reject(bodyUnreadable()));
  });
}
