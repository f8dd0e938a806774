import { expect } from 'chai';
import { Frontier, foldRight } from '../../../internal/ledger/frontier.ts';
import { hashLeaf, leafHashText } from '../../../internal/ledger/hashing.ts';
import { isConsistent, proveConsistency, proveInclusion, rootOfInclusion } from '../../../internal/ledger/proofs.ts';
import { nodesOfTiles } from '../../../internal/ledger/tiles.ts';

/** The leaves and roots that implementations of RFC 6962 test with. */
const leaves = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f'];
const roots = [
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];

/** A tree of so many leaves: its roots by size, and its full tiles and the last of each level. */
function tree(size: number) {
  const frontier = new Frontier();
  const tiles = new Map<string, Buffer[]>();
  const keep = (level: number, index: number, hash: Buffer): void => {
    const key = `${level}/${Math.floor(index / 256)}`;
    tiles.set(key, [...(tiles.get(key) ?? []), hash]);
  };
  const rootsBySize = [frontier.root()];
  for (let index = 0; index < size; index += 1) {
    keep(0, index, leafHash(index));
    frontier.append(leafHashText(Buffer.from(`leaf ${index}`)), keep);
    rootsBySize.push(frontier.root());
  }
  const read = nodesOfTiles(async (level, index) => Buffer.concat(tiles.get(`${level}/${index}`) ?? []));
  const rootOf = (size: number): Buffer => rootsBySize[size] ?? Buffer.alloc(0);
  return { read, rootOf, frontier };
}

const leafHash = (index: number): Buffer => hashLeaf(Buffer.from(`leaf ${index}`));

describe('the Merkle tree', () => {
  it('has the roots of RFC 6962', () => {
    const frontier = new Frontier();
    expect(frontier.root().toString('hex')).to.match(/^e3b0c442/);
    const found = leaves.map((leaf) => {
      frontier.append(leafHashText(Buffer.from(leaf, 'hex')));
      return frontier.root().toString('hex');
    });
    expect(found).to.deep.equal(roots);
  });

  it('continues from its size and its hashes', () => {
    const { frontier, rootOf } = tree(300);
    const again = new Frontier(frontier.size, frontier.bytes);
    expect(again.root()).to.deep.equal(rootOf(300));
    expect(() => new Frontier(299, frontier.bytes)).to.throw('full subtrees');
  });

  const sizes = [1, 2, 3, 7, 8, 255, 256, 257, 700];
  it('proves that each leaf is in it, and no other leaf', async () => {
    for (const size of sizes) {
      const { read, rootOf } = tree(size);
      for (const index of new Set([0, 1, 6, 255, 256, size - 2, size - 1].filter((at) => at >= 0 && at < size))) {
        const proof = await proveInclusion(index, size, read);
        const root = (at: { index: number; size: number }, hash: Buffer) => rootOfInclusion(at, hash, proof);
        expect(root({ index, size }, leafHash(index))).to.deep.equal(rootOf(size));
        expect(root({ index, size }, leafHash(index + 1))).to.not.deep.equal(rootOf(size));
        if (size > 1)
          expect(root({ index: index === 0 ? 1 : 0, size }, leafHash(index))).to.not.deep.equal(rootOf(size));
        expect(rootOfInclusion({ index, size }, leafHash(index), [...proof, rootOf(size)])).to.equal(undefined);
      }
    }
  });

  it('proves that it extends each smaller tree, and no other', async () => {
    const { read, rootOf } = tree(700);
    for (const size of sizes) {
      for (const smaller of sizes.filter((one) => one <= size)) {
        const proof = await proveConsistency(smaller, size, read);
        const older = { size: smaller, root: rootOf(smaller) };
        const newer = { size, root: rootOf(size) };
        expect(isConsistent(older, newer, proof), `${smaller} in ${size}`).to.equal(true);
        expect(isConsistent({ ...older, root: rootOf(0) }, newer, proof)).to.equal(false);
        expect(isConsistent(older, { ...newer, root: rootOf(0) }, proof)).to.equal(false);
        if (smaller < size) expect(isConsistent(newer, older, proof)).to.equal(false);
        if (proof.length > 0) expect(isConsistent(older, newer, proof.slice(1))).to.equal(false);
      }
    }
  });

  it('folds subtrees from the right', () => {
    const { rootOf } = tree(3);
    const left = tree(2).rootOf(2);
    expect(foldRight([left, leafHash(2)])).to.deep.equal(rootOf(3));
  });
});
