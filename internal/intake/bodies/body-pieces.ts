import type { Context } from 'koa';
import type { Bodies } from './bodies.ts';
import { bodyTooLarge, bodyUnreadable } from './body-errors.ts';
import { WholeBodyRequest } from '../fast-path/whole-body-request.ts';
import { encodedLimit, type Encoding } from './content-encoding.ts';
import { Decoder, type Take } from './decoder.ts';

/** How the pieces of a body are read. */
export interface PieceOptions {
  bodies: Bodies;
  encoding: Encoding | undefined;
  /** Most bytes of the decoded body; unlimited unless given. */
  limit?: number | undefined;
}

/**
 * Passes each decoded piece of a body to `take`, in order; resolves after the last. Rejects with
 * the error of `take`, with 413 past the limit, or with 400 if the body cannot be decoded or the
 * connection breaks. The rest is then read and dropped, because it would block the next request.
 */
export async function readPieces(
  ctx: Context,
  { bodies, encoding, limit = Infinity }: PieceOptions,
  take: Take,
): Promise<void> {
  const takeUpToLimit = upTo(limit, limit, take);
  if (encoding === undefined) return readRaw(ctx, bodies, takeUpToLimit);
  const decoder = new Decoder(encoding, takeUpToLimit);
  try {
    await readRaw(
      ctx,
      bodies,
      upTo(encodedLimit(limit), limit, (piece) => decoder.write(piece)),
    );
    await decoder.end();
  } finally {
    decoder.close();
  }
}

/** @param named the limit that the error names. */
function upTo(most: number, named: number, take: Take): Take {
  let length = 0;
  return (piece) => {
    length += piece.length;
    if (length > most) throw bodyTooLarge(named);
    return take(piece);
  };
}

async function readRaw(ctx: Context, bodies: Bodies, take: Take): Promise<void> {
  let length = 0;
  let failure: { error: unknown } | undefined;
  const takeOne = async (piece: Buffer): Promise<void> => {
    length += piece.length;
    bodies.received(piece.length);
    bodies.charge(ctx, length);
    if (failure !== undefined) return bodies.rest(ctx);
    try {
      await take(piece);
    } catch (error) {
      failure = { error };
    }
  };
  await eachPiece(ctx, takeOne);
  if (failure !== undefined) throw failure.error;
}

async function eachPiece(ctx: Context, take: (piece: Buffer) => Promise<void>): Promise<void> {
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

/**
 * Answers `Expect: 100-continue`, which .NET sends with each POST. After an error, the client need
 * not send the body.
 */
export function inviteBody({ req, res }: Context): void {
  const { expect } = req.headers;
  if (expect !== undefined && req.httpVersion === '1.1' && /100-continue/i.test(expect)) res.writeContinue();
}
