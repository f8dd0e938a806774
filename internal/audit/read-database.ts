import { leafSize, readLeaf, splitLeaves } from '../log/leaf.ts';
import { tileWidth } from '../log/tiles.ts';
import type { Tables } from '../store/database.ts';
import { findLeaf } from '../store/find-leaf.ts';
import { sql, type Kysely } from '../store/sql.ts';
import { Erased } from './erased.ts';

/** One snapshot of the database. */
export type Reading = Kysely<Tables>;

/** Tiles of one query. */
const tilesAtOnce = 64;

/** All leaves of a log, in order. They end before the first that is missing. */
export async function* readLogLeaves(trx: Reading, organization: string): AsyncGenerator<Buffer> {
  let next = 0;
  for (;;) {
    const { rows } = await sql<{ index: string; content: Uint8Array }>`
      select index, content from log_tiles
      where organization = ${organization} and level = 0 and index >= ${next} order by index limit ${tilesAtOnce}
    `.execute(trx);
    for (const { index, content } of rows) {
      if (Number(index) !== next || content.length !== tileWidth * leafSize) return;
      yield Buffer.from(content);
      next += 1;
    }
    if (rows.length < tilesAtOnce) break;
  }
  let at = next * tileWidth;
  const { rows } = await sql<{ first_index: string; leaves: Uint8Array }>`
    select first_index, leaves from log_tails where organization = ${organization} order by first_index
  `.execute(trx);
  for (const { first_index, leaves } of rows) {
    if (Number(first_index) !== at || leaves.length % leafSize !== 0) return;
    yield Buffer.from(leaves);
    at += leaves.length / leafSize;
  }
}

/** The erasures of an organization whose leaves are in its log, placed or waiting. */
export async function readErased(trx: Reading, organization: string): Promise<Erased> {
  const erased = new Erased();
  const rows = await trx
    .selectFrom('erasures')
    .selectAll()
    .where('organization', '=', organization)
    .orderBy('id')
    .execute();
  for (const row of rows) {
    await erased.add({ ...row, event_ids: Buffer.from(row.event_ids) }, async (id) => {
      const placed = await findLeaf(trx, organization, id);
      if (placed !== undefined) return placed.leaf;
      const { waiting } = await leavesBetween(trx, organization, undefined, undefined);
      return splitLeaves(waiting).find((leaf) => readLeaf(leaf).id === id);
    });
  }
  return erased;
}

/**
 * The leaves of events with ids above `after`, up to `last`, in the order of the log; all above
 * without it. `waiting` are those that the sealer has not placed yet.
 */
export async function leavesBetween(
  trx: Reading,
  organization: string,
  after: string | undefined,
  last: string | undefined,
): Promise<{ sealed: Buffer; waiting: Buffer }> {
  const tiles = await sql<{ leaves: Uint8Array }>`
    select content as leaves from log_tiles where organization = ${organization} and level = 0
      and last_id >= ${after ?? lowestId}::uuid and first_id <= ${last ?? highestId}::uuid
    order by index
  `.execute(trx);
  const tails = await sql<{ leaves: Uint8Array }>`
    select leaves from log_tails where organization = ${organization} order by first_index
  `.execute(trx);
  const waiting = await sql<{ leaves: Uint8Array }>`
    select leaves from log_segments where organization = ${organization} order by id
  `.execute(trx);
  const low = after === undefined ? Buffer.alloc(0) : idBytes(after);
  const high = idBytes(last ?? highestId);
  return { sealed: within([...tiles.rows, ...tails.rows], low, high), waiting: within(waiting.rows, low, high) };
}

/** Joins the leaves with an id above `low`, up to `high`: in runs, since most follow each other. */
function within(rows: readonly { leaves: Uint8Array }[], low: Buffer, high: Buffer): Buffer {
  const all = Buffer.concat(rows.map(({ leaves }) => leaves));
  const runs: Buffer[] = [];
  let begin = 0;
  for (let at = 0; at < all.length; at += leafSize) {
    const id = [at + 1, at + 17] as const;
    if (all.compare(low, 0, low.length, ...id) > 0 && all.compare(high, 0, 16, ...id) <= 0) continue;
    runs.push(all.subarray(begin, at));
    begin = at + leafSize;
  }
  return begin === 0 ? all : Buffer.concat([...runs, all.subarray(begin)]);
}

const lowestId = '00000000-0000-0000-0000-000000000000';
const highestId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

function idBytes(id: string): Buffer {
  return Buffer.from(id.replaceAll('-', ''), 'hex');
}
