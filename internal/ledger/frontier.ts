import { childrenHashText, emptyRoot, hashChildren, hashOfText, hashSize, type HashText } from './hashing.ts';

/** Receives the hash of each full subtree that a tile above holds. */
export type OnTileHash = (level: number, index: number, hash: Buffer) => void;

/**
 * A growing tree: its size, and the hashes of the full subtrees that cover it, largest first. A
 * tree of n leaves has as many as n has ones in binary.
 */
export class Frontier {
  #size: number;
  readonly #hashes: HashText[];

  /** @param hashes as {@link bytes} gives them. @throws when their number is wrong. */
  constructor(size = 0, hashes: Buffer = Buffer.alloc(0)) {
    this.#size = size;
    this.#hashes = splitHashes(hashes).map((hash) => hash.toString('latin1'));
    const ones = size.toString(2).replaceAll('0', '').length;
    if (this.#hashes.length !== ones) throw new Error(`a tree of size ${size} has ${ones} full subtrees`);
  }

  get size(): number {
    return this.#size;
  }

  /** The hashes, concatenated. */
  get bytes(): Buffer {
    return hashOfText(this.#hashes.join(''));
  }

  /** Appends the hash of the next leaf. Calls `onTileHash` for each hash of a full tile. */
  append(leafHash: HashText, onTileHash: OnTileHash = () => undefined): void {
    let node = leafHash;
    let index = this.#size;
    for (let height = 1; index % 2 === 1; height += 1) {
      const left = this.#hashes.pop();
      if (left === undefined) throw new Error('the tree lacks a subtree');
      node = childrenHashText(left, node);
      index = (index - 1) / 2;
      if (height % 8 === 0) onTileHash(height / 8, index, hashOfText(node));
    }
    this.#hashes.push(node);
    this.#size += 1;
  }

  /** The root of the tree (RFC 6962, section 2.1). */
  root(): Buffer {
    return this.#hashes.length === 0 ? emptyRoot() : foldRight(splitHashes(this.bytes));
  }
}

/** The hash above consecutive full subtrees, largest first. */
export function foldRight(hashes: readonly Buffer[]): Buffer {
  return hashes.reduceRight((right, left) => hashChildren(left, right));
}

/** Cuts bytes into hashes. @throws when the last one is not whole. */
export function splitHashes(bytes: Buffer): Buffer[] {
  if (bytes.length % hashSize !== 0) throw new Error(`${bytes.length} bytes are no whole hashes`);
  return Array.from({ length: bytes.length / hashSize }, (_, at) => bytes.subarray(at * hashSize, (at + 1) * hashSize));
}
