import { sql, type Transaction } from 'kysely';
import type { Growth } from '../ledger/growth.ts';
import { leafSize, readLeaf } from '../ledger/leaf.ts';
import { packTile } from '../ledger/tiles.ts';
import { bytesArray, textArray, uuidArray } from './array-parameters.ts';
import type { Tables } from './database.ts';

type Trx = Transaction<Tables>;

/** The growth of a log, and the MACs of its tree. */
export type SealedGrowth = Growth & { mac: Buffer };

/** Writes the growth of logs by organization: tails, full tiles, hashes above them, and trees. */
export async function writeGrowth(trx: Trx, growths: ReadonlyMap<string, SealedGrowth>): Promise<void> {
  const all = Array.from(growths, ([organization, growth]) => ({ organization, ...growth }));
  const tails = all.filter(({ tail }) => tail.leaves.length > 0);
  if (tails.length > 0) {
    await sql`
      insert into log_tails (organization, first_index, leaves) select * from unnest(
        ${textArray(tails.map(({ organization }) => organization))},
        ${tails.map(({ tail }) => tail.firstIndex)}::bigint[],
        ${bytesArray(tails.map(({ tail }) => tail.leaves))}
      )
    `.execute(trx);
  }
  await writeTiles(
    trx,
    all.flatMap(({ organization, tiles }) => tiles.map((tile) => ({ organization, ...tile, ...idsOf(tile.leaves) }))),
  );
  await appendHashes(
    trx,
    all.flatMap(({ organization, hashes }) => hashes.map((tile) => ({ organization, ...tile }))),
  );
  await sql`
    insert into log_trees (organization, size, frontier, mac) select * from unnest(
      ${textArray(all.map(({ organization }) => organization))},
      ${all.map(({ size }) => size)}::bigint[],
      ${bytesArray(all.map(({ frontier }) => frontier.bytes))},
      ${bytesArray(all.map(({ mac }) => mac))}
    )
    on conflict (organization) do update
      set size = excluded.size, frontier = excluded.frontier, mac = excluded.mac
  `.execute(trx);
}

interface LeafTile {
  organization: string;
  index: number;
  leaves: Buffer;
  firstId: string;
  lastId: string;
}

async function writeTiles(trx: Trx, tiles: readonly LeafTile[]): Promise<void> {
  if (tiles.length === 0) return;
  await sql`
    insert into log_tiles (organization, level, index, content, first_id, last_id)
    select organization, 0, index, content, first_id, last_id from unnest(
      ${textArray(tiles.map(({ organization }) => organization))},
      ${tiles.map(({ index }) => index)}::bigint[],
      ${bytesArray(tiles.map(({ leaves }) => packTile(leaves)))},
      ${uuidArray(tiles.map(({ firstId }) => firstId))},
      ${uuidArray(tiles.map(({ lastId }) => lastId))}
    ) as tiles (organization, index, content, first_id, last_id)
  `.execute(trx);
}

/** A tile above level 0 gains at most one hash for each 256 tiles below. */
async function appendHashes(
  trx: Trx,
  tiles: readonly { organization: string; level: number; index: number; hashes: Buffer }[],
): Promise<void> {
  if (tiles.length === 0) return;
  await sql`
    insert into log_tiles as t (organization, level, index, content) select * from unnest(
      ${textArray(tiles.map(({ organization }) => organization))},
      ${tiles.map(({ level }) => level)}::smallint[],
      ${tiles.map(({ index }) => index)}::bigint[],
      ${bytesArray(tiles.map(({ hashes }) => hashes))}
    )
    on conflict (organization, level, index) do update set content = t.content || excluded.content
  `.execute(trx);
}

/** The lowest and the highest id of the leaves, compared as bytes. */
function idsOf(leaves: Buffer): { firstId: string; lastId: string } {
  let [low, high] = [0, 0];
  for (let at = leafSize; at < leaves.length; at += leafSize) {
    // Most ids are higher than all earlier ones.
    if (compareIds(leaves, at, high) > 0) high = at;
    else if (compareIds(leaves, at, low) < 0) low = at;
  }
  const idAt = (at: number): string => readLeaf(leaves.subarray(at, at + leafSize)).id;
  return { firstId: idAt(low), lastId: idAt(high) };
}

/** Compares byte by byte: ids differ early, and `Buffer.compare` takes three times as long. */
function compareIds(leaves: Buffer, one: number, other: number): number {
  for (let byte = 1; byte <= 16; byte += 1) {
    const difference = (leaves[one + byte] ?? 0) - (leaves[other + byte] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
