import { expect } from 'chai';
import { signCheckpoint } from '../../internal/log/checkpoint.ts';
import { Frontier } from '../../internal/log/frontier.ts';
import { hashLeaf, leafHashText } from '../../internal/log/hashing.ts';
import { createSigningKey, forOrganization, readSigningKeys, verifierKeyText } from '../../internal/log/keys.ts';
import { leafOf } from '../../internal/log/leaf.ts';
import { writeProof } from '../../internal/log/proof-text.ts';
import { proveInclusion } from '../../internal/log/proofs.ts';
import { entryBundle, nodesOfTiles, tilePath, tilesOf } from '../../internal/log/tiles.ts';
import { failureOf } from '../support/failure.ts';
import { checkByGo } from '../support/log-by-go.ts';

const keys = readSigningKeys(createSigningKey('log.example.org'));
const publicKey = keys.map((key) => verifierKeyText(forOrganization(key, 'acme'))).join();

const leafAt = (index: number): Buffer =>
  leafOf({ organization: 'acme', id: `019ac0de-0000-7000-8000-${index.toString(16).padStart(12, '0')}` });

/** A log of so many leaves as it is served, with older checkpoints and with proofs. */
async function servedLog(size: number, older: readonly number[], proven: readonly number[]) {
  const served = new Map<string, Buffer | string>();
  const levels: Buffer[][] = [];
  const frontier = new Frontier();
  const leaves: Buffer[] = [];
  for (let index = 0; index < size; index += 1) {
    const leaf = leafAt(index);
    leaves.push(leaf);
    (levels[0] ??= []).push(hashLeaf(leaf));
    frontier.append(leafHashText(leaf), (level, _, hash) => (levels[level] ??= []).push(hash));
    const checkpoint = { size: index + 1, root: frontier.root() };
    if (older.includes(index + 1)) served.set(`older/${index + 1}`, signCheckpoint('acme', checkpoint, keys));
  }
  const checkpoint = signCheckpoint('acme', { size, root: frontier.root() }, keys);
  served.set('checkpoint', checkpoint);
  for (const tile of tilesOf(size)) {
    const [from, to] = [tile.index * 256, tile.index * 256 + tile.width];
    const hashes = tile.level === 'entries' ? leaves : (levels[tile.level] ?? []);
    const bytes = Buffer.concat(hashes.slice(from, to));
    served.set(tilePath(tile), tile.level === 'entries' ? entryBundle(bytes) : bytes);
  }
  const read = nodesOfTiles(async (level, index) =>
    Buffer.concat(levels[level]?.slice(index * 256, index * 256 + 256) ?? []),
  );
  for (const index of proven) {
    const hashes = await proveInclusion(index, size, read);
    served.set(`proof/${index}`, writeProof({ leaf: leafAt(index), index, hashes, checkpoint }));
  }
  return served;
}

describe('a log, checked with golang.org/x/mod/sumdb', () => {
  it('has the signature, the tree, the entries and the proofs that Go expects', async () => {
    const size = 66_000;
    const log = await servedLog(size, [1, 255, 256, 257, 65_536, 65_999], [0, 255, 256, 65_535, 65_536, size - 1]);
    expect(await checkByGo(log, publicKey)).to.equal('66000 leaves, 6 older checkpoints, 6 proofs');
  });

  it('is refused after a change of any part', async () => {
    const log = await servedLog(600, [300], [5]);
    const changed = (path: string, at: number) => {
      const bytes = Buffer.from(log.get(path) ?? '');
      bytes.writeUInt8((bytes[at] ?? 0) ^ 1, at);
      return checkByGo(new Map([...log, [path, bytes]]), publicKey);
    };
    const faults: [path: string, at: number, message: RegExp][] = [
      ['tile/entries/001', 5, /leaf 256 is not the one of the tree/],
      ['tile/0/002.p/88', 40, /inconsistent tile/],
      ['tile/1/000.p/2', 40, /inconsistent tile/],
      ['checkpoint', 16, /signature/],
      ['proof/5', 40, /invalid inclusion proof|illegal base64|invalid transparency proof/],
      ['older/300', 30, /signature/],
    ];
    for (const [path, at, message] of faults) {
      expect(await failureOf(changed(path, at)), path)
        .to.have.property('message')
        .that.matches(message);
    }
  });
});
