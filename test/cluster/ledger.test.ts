import { expect } from 'chai';
import type { RawBuilder } from 'kysely';
import { signCheckpoint } from '../../internal/ledger/checkpoint.ts';
import { Frontier } from '../../internal/ledger/frontier.ts';
import { hashLeaf, leafHashText } from '../../internal/ledger/hashing.ts';
import { createSigningKey, forOrganization, readSigningKeys, verifierKeyText } from '../../internal/ledger/keys.ts';
import { leafOf } from '../../internal/ledger/leaf.ts';
import { writeProof } from '../../internal/ledger/proof-text.ts';
import { proveInclusion } from '../../internal/ledger/proofs.ts';
import { entryBundle, nodesOfTiles, tilePath, tilesOf } from '../../internal/ledger/tiles.ts';
import { recordEvents } from '../../internal/store/record-events.ts';
import { sql } from '../../internal/store/sql.ts';
import { readToken } from '../support/console.ts';
import { anEvent } from '../support/events.ts';
import { failureOf } from '../support/failure.ts';
import { checkByGo, checkByTessera } from '../support/ledger-by-go.ts';
import { suiteConsole } from '../support/reading.ts';
import { publicKeyOf, seal, servedBy, withLeaves } from '../support/sealed-ledger.ts';

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

describe('a log of the console, checked with fsck of tessera', () => {
  const suite = suiteConsole();

  it('has the checkpoint, tiles and entries that fsck computes, and is refused after a change of any', async () => {
    const { db } = suite.database;
    const events = Array.from({ length: 600 }, () => anEvent());
    await recordEvents(db, events, withLeaves);
    await seal(db);
    const check = (): Promise<string> =>
      checkByTessera(`http://127.0.0.1:${suite.console.port}/v1/log/`, publicKeyOf(), {
        token: readToken(),
        'x-forwarded-proto': 'https',
      });
    // The checkpoint, 3 bundles of entries, 3 tiles of level 0, and 1 of level 1.
    expect(await check()).to.equal('8 files are right');
    const proven = await servedBy(db, [events[0]?.id ?? '', events[599]?.id ?? '']);
    expect(await checkByGo(proven, publicKeyOf())).to.equal('600 leaves, 0 older checkpoints, 2 proofs');

    // Each changes one bit, and the second time undoes that; the last one exchanges digits.
    const faults: [what: string, change: RawBuilder<unknown>, message: RegExp][] = [
      [
        'a leaf of a full tile',
        sql`update log_tiles set content = set_byte(content, 48, get_byte(content, 48) # 1)
          where level = 0 and index = 0`,
        /tile\/1\/000\.p\/2: log has/,
      ],
      [
        'a hash of level 1',
        sql`update log_tiles set content = set_byte(content, 31, get_byte(content, 31) # 1) where level = 1`,
        /tile\/1\/000\.p\/2: log has/,
      ],
      [
        'a leaf after the last full tile',
        sql`update log_tails set leaves = set_byte(leaves, 48, get_byte(leaves, 48) # 1)`,
        /calculated root \w+, but checkpoint claims/,
      ],
      [
        'the checkpoint',
        sql`update log_checkpoints set published_note = translate(published_note, '06', '60')`,
        /failed to fetch and verify checkpoint/,
      ],
    ];
    for (const [what, change, message] of faults) {
      expect((await change.execute(db)).numAffectedRows, what).to.equal(1n);
      expect(await failureOf(check()), what)
        .to.have.property('message')
        .that.matches(message);
      await change.execute(db);
    }
    expect(await check()).to.equal('8 files are right');
  });
});
