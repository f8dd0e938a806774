import type { Context } from 'koa';
import { storable } from '../event/stored-text.ts';
import { readPieces } from './body-pieces.ts';

/**
 * Resolves with the first `limit` bytes of a body, as text that the record can hold. Reads the rest
 * and drops it. Rejects with 400 if the connection breaks.
 */
export async function readCutText(ctx: Context, limit: number): Promise<string> {
  const bytes = await firstBytes(ctx, limit);
  // The cut may divide a character.
  return storable(new TextDecoder().decode(bytes, { stream: bytes.length === limit }));
}

async function firstBytes(ctx: Context, limit: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let missing = limit;
  await readPieces(ctx, (piece) => {
    if (missing > 0) pieces.push(piece.subarray(0, missing));
    missing -= piece.length;
  });
  return Buffer.concat(pieces);
}
