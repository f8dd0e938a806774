import type { Context } from 'koa';
import { storable } from '../event/stored-text.ts';
import type { Bodies } from './bodies.ts';
import { readPieces } from './body-pieces.ts';
import { encodingOf, windowOf } from './intake/content-encoding.ts';

/** Most bytes that may come out of an encoded body. */
const decodedLimit = 16 * 1_024 * 1_024;

/**
 * Resolves with the first `limit` bytes of a body, as text that the record can hold. Reads the rest
 * and drops it. Rejects with 429 or 503 without room, with 415, 413 or 400 for an encoded body that
 * cannot be read, with 400 if the connection breaks.
 */
export async function readCutText(ctx: Context, limit: number, bodies: Bodies): Promise<string> {
  const encoding = encodingOf(ctx.req.headers);
  const held = limit + windowOf(encoding);
  await bodies.admit(ctx, held);
  const pieces: Buffer[] = [];
  let length = 0;
  await readPieces(ctx, { bodies, encoding, limit: encoding && decodedLimit }, async (piece) => {
    const missing = limit - length;
    length += piece.length;
    bodies.grow(ctx, length, held);
    if (missing > 0) pieces.push(piece.subarray(0, missing));
    // What is dropped waits for its turn, too.
    await bodies.run(ctx, () => undefined);
  });
  const bytes = Buffer.concat(pieces);
  // The cut may divide a character.
  return storable(new TextDecoder(encodingBy(bytes)).decode(bytes, { stream: length >= limit }));
}

/** Programs of Windows write logs in UTF-16, and say so in the first two bytes. */
function encodingBy(bytes: Buffer): string {
  const mark = bytes.toString('hex', 0, 2);
  if (mark === 'fffe') return 'utf-16le';
  return mark === 'feff' ? 'utf-16be' : 'utf-8';
}
