import type { Frontier, OnTileHash } from './frontier.ts';
import { leafHashText } from './hashing.ts';
import { leafSize } from './leaf.ts';
import { tileWidth } from './tiles.ts';

/** What a log gains by new leaves. */
export interface Growth {
  readonly size: number;
  /** The frontier of the grown tree. */
  readonly frontier: Frontier;
  /** The leaves of each tile that is full now. */
  readonly tiles: readonly { index: number; leaves: Buffer }[];
  /** Hashes that follow those that the tiles of levels above 0 hold. */
  readonly hashes: readonly { level: number; index: number; hashes: Buffer }[];
  /** The leaves after the last full tile, of the new ones only if no tile became full. */
  readonly tail: { firstIndex: number; leaves: Buffer };
}

/** True if so many leaves fill a tile of a log of this size. */
export function fillsTile(size: number, leaves: Buffer): boolean {
  return (size % tileWidth) + leaves.length / leafSize >= tileWidth;
}

/**
 * Adds leaves to a log. `tail`: the leaves after its last full tile, if the new ones fill it.
 * @throws when there are more or fewer of them than its size says.
 */
export function grow(frontier: Frontier, tail: Buffer, leaves: Buffer): Growth {
  const { size } = frontier;
  const above = new Map<string, { level: number; index: number; hashes: Buffer[] }>();
  const keepAbove: OnTileHash = (level, at, hash) => {
    const index = Math.floor(at / tileWidth);
    const tile = above.get(`${level}/${index}`) ?? { level, index, hashes: [] };
    tile.hashes.push(hash);
    above.set(`${level}/${index}`, tile);
  };
  if (leaves.length % leafSize !== 0) throw new Error(`${leaves.length} bytes are no whole leaves`);
  for (let at = 0; at < leaves.length; at += leafSize) {
    frontier.append(leafHashText(leaves, at, at + leafSize), keepAbove);
  }
  const hashes = [...above.values()].map((tile) => ({ ...tile, hashes: Buffer.concat(tile.hashes) }));
  if (!fillsTile(size, leaves)) {
    return { size: frontier.size, frontier, tiles: [], hashes, tail: { firstIndex: size, leaves } };
  }
  if (tail.length !== (size % tileWidth) * leafSize) throw new Error(`a log of size ${size} lacks leaves at its end`);
  const all = Buffer.concat([tail, leaves]);
  const first = Math.floor(size / tileWidth);
  const bytes = tileWidth * leafSize;
  const tiles = Array.from({ length: Math.floor(all.length / bytes) }, (_, at) => ({
    index: first + at,
    leaves: all.subarray(at * bytes, (at + 1) * bytes),
  }));
  const rest = all.subarray(tiles.length * bytes);
  return {
    size: frontier.size,
    frontier,
    tiles,
    hashes,
    tail: { firstIndex: (first + tiles.length) * tileWidth, leaves: rest },
  };
}
