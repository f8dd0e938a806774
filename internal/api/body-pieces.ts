import type { Context } from 'koa';
import { bodyUnreadable } from './body-errors.ts';
import { WholeBodyRequest } from './fast-path/whole-body-request.ts';
import { inviteBody } from './json-body.ts';

/**
 * Gives each piece of a body to `take`, in order; resolves after the last one. Rejects with 400 if
 * the connection breaks. `take` must not fail: the rest of the body would block the next request.
 */
export async function readPieces(ctx: Context, take: (piece: Buffer) => void | Promise<void>): Promise<void> {
  const { req } = ctx;
  const whole = req instanceof WholeBodyRequest ? req.takeBody() : undefined;
  if (whole !== undefined) return take(whole);
  inviteBody(ctx);
  try {
    for await (const piece of req as AsyncIterable<Buffer>) await take(piece);
  } catch {
    throw bodyUnreadable();
  }
}
