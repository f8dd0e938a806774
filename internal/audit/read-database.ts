import { leafSize, readLeaf, splitLeaves } from '../log/leaf.ts';
import { tileWidth } from '../log/tiles.ts';
import type { Tables } from '../store/database.ts';
import { findLeaf } from '../store/find-leaf.ts';
import { sql, type Kysely } from '../store/sql.ts';
import { Erased } from './erased.ts';
import { CannotCheck, type Beginning } from './finding.ts';

/** One snapshot of the database. */
export type Reading = Kysely<Tables>;

/** Tiles of one query. */
const tilesAtOnce = 64;

/** The row of a log beside its leaves, as the sealer keeps it. */
export interface LogRow extends Beginning {
  readonly size: string;
  readonly frontier: Uint8Array;
  /** The contents of the tiles above level 0, level by level. */
  readonly hashes: Uint8Array;
}

/** @throws {CannotCheck} when there is no log. */
export async function readLog(trx: Reading, organization: string): Promise<LogRow> {
  const { rows } = await sql<LogRow>`
    select began_at as began, complete_at as complete, size, frontier, coalesce((
      select string_agg(content, ''::bytea order by level, index) from log_tiles
      where organization = ${organization} and level > 0
    ), '') as hashes
    from log_trees where organization = ${organization}
  `.execute(trx);
  if (rows[0] === undefined) throw new CannotCheck(`There is no log of ${organization}.`);
  return rows[0];
}

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
      const waiting = await readWaiting(trx, organization);
      return waiting.flatMap((leaves) => splitLeaves(leaves)).find((leaf) => readLeaf(leaf).id === id);
    });
  }
  return erased;
}

/** The leaves that the sealer has not placed yet. */
export async function readWaiting(trx: Reading, organization: string): Promise<Buffer[]> {
  const { rows } = await sql<{ leaves: Uint8Array }>`
    select leaves from log_segments where organization = ${organization} order by id
  `.execute(trx);
  return rows.map(({ leaves }) => Buffer.from(leaves));
}
