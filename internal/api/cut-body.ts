import type { Context } from 'koa';
import type { Bodies } from './bodies.ts';
import { BodyEnd, type TextEnd } from './body-end.ts';
import { readPieces } from './body-pieces.ts';

/**
 * Resolves with the last `limit` bytes of a body as text: a log says last why it ended. Drops what
 * comes before. Rejects with 429 or 503 without room, with 400 if the connection breaks.
 */
export async function readCutText(ctx: Context, limit: number, bodies: Bodies): Promise<TextEnd> {
  await bodies.admit(ctx, limit);
  const end = new BodyEnd(limit);
  let length = 0;
  let failure: unknown;
  await readPieces(ctx, async (piece) => {
    bodies.received(piece.length);
    length += piece.length;
    try {
      bodies.grow(ctx, length, limit);
      end.add(piece);
    } catch (error) {
      failure ??= error;
    }
    // What is dropped waits for its turn, too.
    await bodies.run(ctx, () => undefined);
  });
  if (failure !== undefined) throw failure;
  return end.end();
}
