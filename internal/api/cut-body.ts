import type { Context } from 'koa';
import { readPieces } from './body-pieces.ts';

/**
 * Resolves with the first `limit` bytes of a body, as text that the record can hold. Reads the rest
 * and drops it. Rejects with 400 if the connection breaks.
 */
export async function readCutText(ctx: Context, limit: number): Promise<string> {
  const bytes = await firstBytes(ctx, limit);
  // The cut may divide a character, and U+0000 cannot be stored.
  const text = new TextDecoder().decode(bytes, { stream: bytes.length === limit });
  return text.replaceAll('\0', '\uFFFD');
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

/** The first `most` characters of a text, in Unicode characters. */
export function cut(text: string, most: number): string {
  return text.length <= most ? text : Array.from(text).slice(0, most).join('');
}
