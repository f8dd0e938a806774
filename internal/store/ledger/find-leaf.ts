import { sql, type Kysely } from 'kysely';
import { readLeaf, splitLeaves } from '../../ledger/leaf.ts';
import { tileWidth, unpackTile } from '../../ledger/tiles.ts';
import type { Tables } from '../database.ts';

/**
 * The leaf of an event or an erasure with its place in the log, even if it is newer than the
 * checkpoint. Of several leaves, the newest. Undefined while it has no place.
 */
export async function findLeaf(
  db: Kysely<Tables>,
  organization: string,
  id: string,
): Promise<{ index: number; leaf: Buffer } | undefined> {
  const { rows } = await sql<{ first_index: string; leaves: Uint8Array }>`
    select index * ${sql.lit(tileWidth)} as first_index, content as leaves from log_tiles
    where organization = ${organization} and level = 0 and last_id >= ${id}::uuid and first_id <= ${id}::uuid
      and position(substring(uuid_send(${id}::uuid) from 3) in content) > 0
    union all
    select first_index, leaves from log_tails
    where organization = ${organization} and position(uuid_send(${id}::uuid) in leaves) > 0
    order by first_index desc
  `.execute(db);
  const wanted = id.toLowerCase();
  for (const { first_index, leaves } of rows) {
    const own = splitLeaves(unpackTile(leaves));
    const at = own.findLastIndex((leaf) => readLeaf(leaf).id === wanted);
    const leaf = own[at];
    if (leaf !== undefined) return { index: Number(first_index) + at, leaf };
  }
  return undefined;
}
