import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';
import type { Bodies } from '../bodies/bodies.ts';
import { bodyTooLarge, bodyUnreadable } from '../bodies/body-errors.ts';
import type { ReadBytes } from '../http/http-stack.ts';
import { WholeBodyRequest } from './whole-body-request.ts';

/**
 * Creates a reader that needs no parser, since Node delivers exactly the bytes of a body. The
 * caller checks a Content-Length against `limit`, in bytes.
 */
export function readBody(limit: number): ReadBytes {
  return (ctx, bodies) => {
    const { 'content-length': length } = ctx.req.headers;
    if (length !== undefined) return wholeBody(ctx.req, Number(length)) ?? announced(ctx, Number(length), bodies);
    return unannounced(ctx, limit, bodies);
  };
}

/**
 * Returns the body synchronously if Node has read all of it, so that events are accepted in the
 * order of arrival. Undefined otherwise.
 */
function wholeBody(request: IncomingMessage, length: number): Buffer | undefined {
  const body = request instanceof WholeBodyRequest ? request.takeBody() : undefined;
  if (body !== undefined || request.readableLength !== length) return body;
  return (request.read() as Buffer | null) ?? Buffer.alloc(0);
}

/** Resolves with the bytes of a body that states its length. A large one already has room. */
async function announced(ctx: Context, length: number, bodies: Bodies | undefined): Promise<Buffer> {
  if (bodies?.isLarge(ctx) === false) bodies.take(ctx, length);
  const bytes = bodies?.allocate(ctx, length) ?? Buffer.allocUnsafe(length);
  let read = 0;
  await pieces(ctx.req, (piece) => {
    bodies?.received(piece.length);
    read += piece.copy(bytes, read);
    return read === length;
  });
  return bytes;
}

/** Resolves with the bytes of a body that does not state its length. */
async function unannounced(ctx: Context, limit: number, bodies: Bodies | undefined): Promise<Buffer> {
  const all: Buffer[] = [];
  let read = 0;
  await pieces(ctx.req, (piece) => {
    read += piece.length;
    if (read > limit) throw bodyTooLarge(limit);
    bodies?.grow(ctx, read);
    all.push(piece);
    return false;
  });
  return Buffer.concat(all);
}

/**
 * Passes each piece of a body to `take`. Resolves at its end, or when `take` returns true. Rejects
 * with the error of `take`, or if the connection breaks; the rest is then dropped.
 */
function pieces(request: IncomingMessage, take: (piece: Buffer) => boolean): Promise<void> {
  if (request.destroyed) return Promise.reject(bodyUnreadable());
  return new Promise((resolve, reject) => {
    let failed = false;
    const fail = (error: unknown): void => {
      failed = true;
      reject(error);
    };
    request.on('data', (piece: Buffer) => {
      try {
        if (!failed && take(piece)) resolve();
      } catch (error) {
        fail(error);
      }
    });
    request.on('end', resolve);
    request.on('error', () => fail(bodyUnreadable()));
  });
}
