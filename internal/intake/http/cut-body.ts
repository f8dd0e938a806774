import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';
import type { Bodies } from '../bodies/bodies.ts';
import { BodyEnd, type TextEnd } from '../bodies/body-end.ts';
import { readPieces } from '../bodies/body-pieces.ts';
import { encodingOf, windowOf } from '../bodies/content-encoding.ts';

/** Most bytes that may come out of an encoded body. */
const decodedLimit = 16 * 1_024 * 1_024;

/** True for a request without a body; reading none takes longer than the rest of a ping. */
function isAbsent({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
}

/**
 * Resolves with the last `limit` bytes of a body as text, because a log says at the end why it
 * ended. Drops the rest. Rejects with 429 or 503 without room, with 415, 413 or 400 for an encoded
 * body that cannot be read, and with 400 if the connection breaks.
 */
export async function readCutText(ctx: Context, limit: number, bodies: Bodies): Promise<TextEnd> {
  const encoding = encodingOf(ctx.req.headers);
  const held = limit + windowOf(encoding);
  await bodies.admit(ctx, held, encoding !== undefined);
  if (isAbsent(ctx.req)) return { text: '', cut: 0 };
  const end = new BodyEnd(limit);
  let length = 0;
  await readPieces(ctx, { bodies, encoding, limit: encoding && decodedLimit }, async (piece) => {
    length += piece.length;
    bodies.grow(ctx, length, held);
    end.add(piece);
    // Dropped pieces wait for their turn too.
    await bodies.run(ctx, () => undefined);
  });
  return end.end();
}
