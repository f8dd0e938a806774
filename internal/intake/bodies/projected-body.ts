import type { Context } from 'koa';
import { mostHeldBytes } from '../../event/held-bytes.ts';
import { RequestError } from '../../kit/errors/request-error.ts';
import type { Bodies } from './bodies.ts';
import { malformed } from './body-errors.ts';
import { readPieces } from './body-pieces.ts';
import { bodyFault } from './body-fault.ts';
import { windowOf } from './content-encoding.ts';
import { requireType } from './json-body.ts';
import { JsonProjection, type Projected, type Shape } from './json-projection.ts';

/**
 * Resolves with the part of a JSON body that a shape names. Rejects with 400, 413, 415, 429, 503.
 */
export type ReadProjected = (ctx: Context) => Promise<Projected>;

/** Bytes of a step; that many bytes of small tokens take about 0.3 ms. */
const stepBytes = 4_096;

/** Bytes at the start of a body to keep, for saying where it is not JSON. */
const keptStart = 16_384;

/**
 * Creates a reader for JSON bodies of up to `limit` bytes that are mostly not needed. It drops
 * those parts as they arrive, and parses in turns.
 */
export function createProjectedReader(limit: number, shape: Shape, bodies: Bodies): ReadProjected {
  return async (ctx) => {
    const encoding = requireType(ctx, ['application/json'], limit);
    const most = Math.max(mostHeldBytes, windowOf(encoding));
    await bodies.admit(ctx, most, encoding !== undefined);
    const projection = new JsonProjection(shape, mostHeldBytes);
    const start: Buffer[] = [];
    let length = 0;
    await readPieces(ctx, { bodies, encoding, limit }, async (piece) => {
      if (length < keptStart) start.push(piece.subarray(0, keptStart - length));
      bodies.grow(ctx, length + piece.length, most);
      await bodies.runAll(ctx, steps(piece));
    });
    attempt(() => projection.end());
    return projection.value;

    function* steps(piece: Buffer): Generator<undefined> {
      for (let from = 0; from < piece.length; from += stepBytes) {
        const step = piece.subarray(from, from + stepBytes);
        attempt(() => projection.write(step));
        length += step.length;
        yield;
      }
    }

    function attempt(work: () => void): void {
      try {
        work();
      } catch (error) {
        throw error instanceof RequestError ? error : malformed(whyNot());
      }
    }

    function whyNot(): string {
      if (length + stepBytes <= keptStart) return bodyFault(withoutPart(Buffer.concat(start)));
      return `must be valid JSON, in UTF-8: it is not near byte ${length}`;
    }
  };
}

/** Drops a character that is cut off at the end. */
function withoutPart(bytes: Buffer): Buffer {
  for (let length = 1; length <= 3; length += 1) {
    const byte = bytes.at(-length) ?? 0;
    const isStart = byte >= 0xc0;
    const whole = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    if (isStart) return length < whole ? bytes.subarray(0, -length) : bytes;
  }
  return bytes;
}
