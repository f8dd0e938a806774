import type { Frontier, OnTileHash } from './frontier.ts';
import { leafHashText } from './hashing.ts';
import { leafSize } from './leaf.ts';
import { tileWidth } from './tiles.ts';

/** The new parts of a log after leaves were added. */
export interface Growth {
  readonly size: number;
  /** The frontier of the grown tree. */
  readonly frontier: Frontier;
  /** The leaves of each tile that is full now. */
  readonly tiles: readonly { index: number; leaves: Buffer }[];
  /** Hashes to append to the tiles of levels above 0. */
  readonly hashes: readonly { level: number; index: number; hashes: Buffer }[];
  /** The leaves after the last full tile; only the new ones if no tile became full. */
  readonly tail: { firstIndex: number; leaves: Buffer };
}

/** True if this many leaves fill a tile of a log of this size. */
export function fillsTile(size: number, leaves: number): boolean {
  return (size % tileWidth) + leaves >= tileWidth;
}

/** The number of leaves in buffers. @throws when the last one is not whole. */
export function countOf(leaves: readonly Uint8Array[]): number {
  const bytes = leaves.reduce((sum, { length }) => sum + length, 0);
  if (bytes % leafSize !== 0) throw new Error(`${bytes} bytes are no whole leaves`);
  return bytes / leafSize;
}

/**
 * Adds leaves to a log. `tail`: the leaves after its last full tile, if the new ones fill it.
 * @throws when their number does not match the size of the log.
 */
export function grow(frontier: Frontier, tail: readonly Uint8Array[], leaves: readonly Uint8Array[]): Growth {
  const { size } = frontier;
  const [before, added] = [countOf(tail), countOf(leaves)];
  const all = Buffer.concat([...tail, ...leaves]);
  const above = new Map<string, { level: number; index: number; hashes: Buffer[] }>();
  const keepAbove: OnTileHash = (level, at, hash) => {
    const index = Math.floor(at / tileWidth);
    const tile = above.get(`${level}/${index}`) ?? { level, index, hashes: [] };
    tile.hashes.push(hash);
    above.set(`${level}/${index}`, tile);
  };
  for (let at = before * leafSize; at < all.length; at += leafSize) {
    frontier.append(leafHashText(all, at, at + leafSize), keepAbove);
  }
  const hashes = [...above.values()].map((tile) => ({ ...tile, hashes: Buffer.concat(tile.hashes) }));
  if (!fillsTile(size, added)) {
    return { size: frontier.size, frontier, tiles: [], hashes, tail: { firstIndex: size, leaves: all } };
  }
  if (before !== size % tileWidth) throw new Error(`a log of size ${size} lacks leaves at its end`);
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
