import { sql, type Kysely } from 'kysely';
import { hashSize } from '../../ledger/hashing.ts';
import { leafSize } from '../../ledger/leaf.ts';
import type { ReadNode } from '../../ledger/proofs.ts';
import { hashLeaves, nodesOfTiles, tileWidth, unpackTile } from '../../ledger/tiles.ts';
import type { Tables } from '../database.ts';

/** A tile as it is stored, or longer: leaves (`entries`) or hashes. Empty if there is none. */
export async function readTile(
  db: Kysely<Tables>,
  organization: string,
  { level, index }: { level: number | 'entries'; index: number },
): Promise<Buffer> {
  if (level !== 'entries' && level > 0) return readHashes(db, organization, level, index);
  const leaves = await readLeaves(db, organization, index);
  return level === 'entries' ? leaves : hashLeaves(leaves);
}

/** Reads the hashes of a log's subtrees, each tile once. */
export function nodesOfLog(read: (tile: { level: number; index: number }) => Promise<Buffer>): ReadNode {
  const tiles = new Map<string, Promise<Buffer>>();
  return nodesOfTiles((level, index) => {
    const key = `${level}/${index}`;
    const tile = tiles.get(key) ?? read({ level, index });
    tiles.set(key, tile);
    return tile;
  });
}

async function readHashes(db: Kysely<Tables>, organization: string, level: number, index: number): Promise<Buffer> {
  const { rows } = await sql<{ content: Uint8Array }>`
    select content from log_tiles where organization = ${organization} and level = ${level} and index = ${index}
  `.execute(db);
  return Buffer.from(rows[0]?.content ?? '').subarray(0, tileWidth * hashSize);
}

/** Uses one statement, since the sealer moves leaves from the tail to a tile once that is full. */
async function readLeaves(db: Kysely<Tables>, organization: string, index: number): Promise<Buffer> {
  const first = index * tileWidth;
  const { rows } = await sql<{ leaves: Uint8Array }>`
    select content as leaves, ${first}::bigint as first_index from log_tiles
    where organization = ${organization} and level = 0 and index = ${index}
    union all
    select leaves, first_index from log_tails
    where organization = ${organization} and first_index >= ${first} and first_index < ${first + tileWidth}
    order by first_index
  `.execute(db);
  return Buffer.concat(rows.map(({ leaves }) => unpackTile(leaves))).subarray(0, tileWidth * leafSize);
}
