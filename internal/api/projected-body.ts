import type { Context } from 'koa';
import { RequestError } from '../errors/request-error.ts';
import { bodyTooLarge } from './body-errors.ts';
import { readPieces } from './body-pieces.ts';
import { malformed, requireType } from './json-body.ts';
import { JsonProjection, type Projected, type Shape } from './json-projection.ts';

/** Resolves with the part of a JSON body that has a shape. Rejects with 415, 413 or 400. */
export type ReadProjected = (ctx: Context) => Promise<Projected>;

/**
 * Creates a reader for JSON bodies of up to `limit` bytes, most of which nobody needs. It drops
 * them while they arrive.
 */
export function createProjectedReader(limit: number, shape: Shape): ReadProjected {
  return async (ctx) => {
    requireType(ctx, ['application/json'], limit);
    const projection = new JsonProjection(shape);
    let length = 0;
    let failure: RequestError | undefined;
    await readPieces(ctx, (piece) => {
      length += piece.length;
      failure ??= length > limit ? bodyTooLarge(limit) : failureOf(() => projection.write(piece));
    });
    failure ??= length === 0 ? malformed('must not be empty') : failureOf(() => projection.end());
    if (failure !== undefined) throw failure;
    return projection.value;
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
