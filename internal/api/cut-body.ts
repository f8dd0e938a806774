import type { Context } from 'koa';
import { storable } from '../event/stored-text.ts';
import type { Bodies } from './bodies.ts';
import { readPieces } from './body-pieces.ts';

/**
 * Resolves with the first `limit` bytes of a body, as text that the record can hold. Reads the rest
 * and drops it. Rejects with 429 or 503 without room, with 400 if the connection breaks.
 */
export async function readCutText(ctx: Context, limit: number, bodies: Bodies): Promise<string> {
  const bytes = await firstBytes(ctx, limit, bodies);
  // The cut may divide a character.
  return storable(new TextDecoder().decode(bytes, { stream: bytes.length === limit }));
}

async function firstBytes(ctx: Context, limit: number, bodies: Bodies): Promise<Buffer> {
  await bodies.admit(ctx, limit);
  const pieces: Buffer[] = [];
  let length = 0;
  let failure: unknown;
  await readPieces(ctx, async (piece) => {
    const missing = limit - length;
    bodies.received(piece.length);
    length += piece.length;
    try {
      bodies.grow(ctx, length, limit);
      if (missing > 0) pieces.push(piece.subarray(0, missing));
    } catch (error) {
      failure ??= error;
    }
    // What is dropped waits for its turn, too.
    await bodies.run(ctx, () => undefined);
  });
  if (failure !== undefined) throw failure;
  return Buffer.concat(pieces);
}
