import type { Context } from 'koa';
import { RequestError } from '../kit/errors/request-error.ts';
import { hashSize } from '../ledger/hashing.ts';
import { leafSize } from '../ledger/leaf.ts';
import { entryBundle, readTilePath } from '../ledger/tiles.ts';
import type { Endpoint } from './endpoint.ts';
import { readPath } from './path.ts';
import { readQuery } from './query.ts';
import type { ReadOptions } from './read-options.ts';

const prefix = '/v1/log/';

/** `GET /v1/log/checkpoint`: the newest checkpoint that enough witnesses have cosigned. */
export function logCheckpoint({ record }: ReadOptions): Endpoint {
  return checkpointAt('checkpoint', (organization) => record.getCheckpoint(organization));
}

/** `GET /v1/log/signed-checkpoint`: the newest checkpoint, whether witnesses have it or not. */
export function logSignedCheckpoint({ record }: ReadOptions): Endpoint {
  return checkpointAt('signed-checkpoint', (organization) => record.getSignedCheckpoint(organization));
}

function checkpointAt(path: string, read: (organization: string) => Promise<{ note: string } | undefined>): Endpoint {
  return {
    path: `${prefix}${path}`,
    answer: async (ctx) => {
      readQuery(ctx, {});
      const checkpoint = await read(ctx.state.organization);
      if (checkpoint === undefined) throw notFound('There is no log of this organization, or no checkpoint yet.');
      answerText(ctx, checkpoint.note);
    },
  };
}

/** `GET /v1/log/acts`: the texts of acts that have leaves in the log, one per line. */
export function logActs({ record }: ReadOptions): Endpoint {
  return {
    path: `${prefix}acts`,
    answer: async (ctx) => {
      readQuery(ctx, {});
      const acts = await record.listActs(ctx.state.organization);
      answerText(ctx, acts.map((act) => `${act}\n`).join(''));
    },
  };
}

/** `GET /v1/log/tile/…`: a tile of hashes, or of leaves (C2SP tlog-tiles). */
export function logTile({ record }: ReadOptions): Endpoint {
  return {
    path: `${prefix}tile/{tile}`,
    pattern: `${prefix}tile/*tile`,
    answer: async (ctx) => {
      readQuery(ctx, {});
      // Generated clients send a path parameter with its slashes encoded.
      const name = readTilePath(ctx.path.slice(prefix.length).replaceAll(/%2f/gi, '/'));
      if (name === undefined) throw noTile();
      const tile = await record.getTile(ctx.state.organization, name);
      const bytes = name.width * (name.level === 'entries' ? leafSize : hashSize);
      if (tile.length < bytes) throw noTile();
      const content = tile.subarray(0, bytes);
      ctx.status = 200;
      ctx.set('Cache-Control', 'private, max-age=31536000, immutable');
      ctx.type = 'application/octet-stream';
      ctx.body = name.level === 'entries' ? entryBundle(content) : content;
    },
  };
}

/** `GET /v1/log/proof/{event_id}`: the proof that an event is in the log (C2SP tlog-proof). */
export function logProof({ record }: ReadOptions): Endpoint {
  return {
    path: `${prefix}proof/{event_id}`,
    answer: async (ctx) => {
      readQuery(ctx, {});
      const { event_id } = readPath(ctx, 'event_id');
      const proof = await record.getProof(ctx.state.organization, event_id);
      if (proof === undefined) throw noProof();
      answerText(ctx, proof);
    },
  };
}

function answerText(ctx: Context, text: string): void {
  ctx.status = 200;
  ctx.set('Cache-Control', 'private, no-cache');
  ctx.type = 'text/plain; charset=utf-8';
  ctx.body = text;
}

/** The 404 for an event that has no place in the log, or no checkpoint that covers it. */
export function noProof(): RequestError {
  return notFound(
    'The log has no such event, or not yet: it has an event ten seconds after it is stored, a minute under load.',
  );
}

function noTile(): RequestError {
  return notFound('There is no such tile of the log, or none yet.');
}

function notFound(detail: string): RequestError {
  return new RequestError('not-found', detail);
}
