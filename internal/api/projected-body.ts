import type { Context } from 'koa';
import { mostHeldBytes } from '../event/held-bytes.ts';
import { RequestError } from '../errors/request-error.ts';
import type { Bodies } from './bodies.ts';
import { bodyTooLarge } from './body-errors.ts';
import { readPieces } from './body-pieces.ts';
import { malformed, requireType } from './json-body.ts';
import { JsonProjection, type Projected, type Shape } from './json-projection.ts';

/** Resolves with the part of a JSON body that has a shape. Rejects with 400, 413, 415, 429, 503. */
export type ReadProjected = (ctx: Context) => Promise<Projected>;

/** Bytes of a step: small tokens of so many take about 0.3 ms. */
const stepBytes = 4_096;

/**
 * Creates a reader for JSON bodies of up to `limit` bytes, most of which nobody needs. It drops
 * them while they arrive, and parses in turns.
 */
export function createProjectedReader(limit: number, shape: Shape, bodies: Bodies): ReadProjected {
  return async (ctx) => {
    requireType(ctx, ['application/json'], limit);
    await bodies.admit(ctx, mostHeldBytes);
    const projection = new JsonProjection(shape, mostHeldBytes);
    let length = 0;
    let failure: RequestError | undefined;
    await readPieces(ctx, async (piece) => {
      bodies.received(piece.length);
      length += piece.length;
      failure ??= length > limit ? bodyTooLarge(limit) : failureOf(() => bodies.grow(ctx, length, mostHeldBytes));
      await bodies.runAll(ctx, steps(piece));
    });
    failure ??= length === 0 ? malformed('must not be empty') : failureOf(() => projection.end());
    if (failure !== undefined) throw failure;
    return projection.value;

    function* steps(piece: Buffer): Generator<undefined> {
      for (let from = 0; from < piece.length && failure === undefined; from += stepBytes) {
        failure = failureOf(() => projection.write(piece.subarray(from, from + stepBytes)));
        yield;
      }
    }
  };
}

function failureOf(work: () => void): RequestError | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return error instanceof RequestError ? error : malformed('must be valid JSON, in UTF-8');
  }
}
