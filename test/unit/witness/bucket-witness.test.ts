import { expect } from 'chai';
import { signCheckpoint } from '../../../internal/ledger/checkpoint.ts';
import { Frontier } from '../../../internal/ledger/frontier.ts';
import { leafHashText } from '../../../internal/ledger/hashing.ts';
import { createSigningKey, readSigningKeys, readVerifierKey, verifierKeyText } from '../../../internal/ledger/keys.ts';
import { BucketWitness } from '../../../internal/ledger/witness/bucket-witness.ts';
import type { LockedObjects } from '../../../internal/ledger/witness/bucket-checkpoints.ts';
import { failureOf } from '../../support/failure.ts';
import { logKeys, publicLogKey } from '../../support/sealed-ledger.ts';

/** A bucket in memory. `away`: each request fails. */
function bucketInMemory() {
  const texts = new Map<string, string>();
  const locks: Date[] = [];
  const state = { away: false, requests: 0 };
  const request = (): void => {
    state.requests += 1;
    if (state.away) throw new Error('away');
  };
  const objects: LockedObjects = {
    where: 's3://bucket',
    list: async function* list(prefix) {
      request();
      const names = [...texts.keys()].filter((name) => name.startsWith(prefix)).sort();
      for (const name of names) yield { name, version: 'a version' };
    },
    read: async ({ name }) => {
      request();
      return texts.get(name) ?? '';
    },
    write: async (name, text, until) => {
      request();
      locks.push(until);
      texts.set(name, text);
    },
    close: () => undefined,
  };
  return { objects, texts, locks, state };
}

/** The checkpoint of a log whose leaves are all the same. */
function checkpointOf(size: number, leaf = 'leaf') {
  const tree = new Frontier();
  for (let at = 0; at < size; at += 1) tree.append(leafHashText(Buffer.from(leaf)));
  const head = { size, root: tree.root() };
  return { organization: 'acme', head, note: signCheckpoint('acme', head, logKeys), prove: async () => [] };
}

describe('a bucket that is a witness', () => {
  const start = (
    objects: LockedObjects,
    keys = [readVerifierKey(publicLogKey)],
    open = () => Promise.resolve(objects),
  ) => {
    const away: string[] = [];
    const options = { name: 's3://bucket', keys, days: 1, now: async () => Date.parse('2099-01-01T00:00:00Z') };
    const witness = new BucketWitness({
      ...options,
      open,
      onAway: (error) => away.push(String(error)),
    });
    return { witness, away };
  };

  it('is opened again after that failed', async () => {
    const { objects, texts } = bucketInMemory();
    let attempts = 0;
    const { witness } = start(objects, undefined, async () => {
      attempts += 1;
      if (attempts === 1) throw new Error('no client');
      return objects;
    });
    expect(String(await failureOf(witness.cosign(checkpointOf(1))))).to.contain('no client');
    await witness.close();
    await witness.cosign(checkpointOf(1));
    expect(texts.size).to.equal(1);
  });

  it('must be read once before a log is signed, and delays nobody when it is unavailable later', async () => {
    const { objects, state } = bucketInMemory();
    state.away = true;
    const first = start(objects);
    await first.witness.refresh(['acme', 'globex']);
    expect(first.away).to.deep.equal(['Error: away']);
    expect(String(await failureOf(first.witness.recall('acme')))).to.contain('s3://bucket cannot be read');

    state.away = false;
    const { witness, away } = start(objects);
    await witness.refresh(['acme']);
    expect(await witness.recall('acme')).to.equal(undefined);
    const { head, ...submission } = checkpointOf(1);
    await witness.cosign(submission);
    state.away = true;
    await witness.refresh(['acme']);
    await witness.refresh(['acme']);
    expect(away).to.deep.equal(['Error: away']);
    expect(await witness.recall('acme')).to.deep.equal(head);
    expect(await failureOf(witness.recall('globex'))).to.be.instanceOf(Error);
  });

  it('has the newest checkpoint, also that of another worker', async () => {
    const { objects, texts, state } = bucketInMemory();
    const { witness } = start(objects);
    const other = start(objects).witness;
    const [one, two] = [checkpointOf(1), checkpointOf(1, 'another')];
    await witness.refresh(['acme']);
    await other.cosign(one);
    // Looked for before the other worker wrote: the second time it looks again.
    await witness.refresh(['acme']);
    expect(await witness.recall('acme')).to.deep.equal(one.head);
    await witness.cosign(one);
    expect(texts.size).to.equal(1);
    expect(String(await failureOf(witness.cosign(two)))).to.contain('has a checkpoint of 1 other leaves of the log');
    const empty = checkpointOf(0);
    expect(String(await failureOf(witness.cosign(empty)))).to.contain('1 leaves of a log that has 0 now');
    const before = state.requests;
    await witness.refresh(['acme']);
    expect(state.requests).to.equal(before + 2);
  });

  it('locks a checkpoint by the clock of Postgres, since that of this process may be wrong', async () => {
    const { objects, locks } = bucketInMemory();
    await start(objects).witness.cosign(checkpointOf(1));
    expect(locks).to.deep.equal([new Date('2099-01-02T00:00:00Z')]);
  });

  it('gets the newest checkpoint again once a new key has signed it, too', async () => {
    const { objects, texts } = bucketInMemory();
    const old = checkpointOf(1);
    await start(objects).witness.cosign(old);
    const keys = [...readSigningKeys(createSigningKey('log.example.org')), ...logKeys];
    const both = { ...old, note: signCheckpoint('acme', old.head, keys) };
    const { witness } = start(
      objects,
      keys.map((key) => readVerifierKey(verifierKeyText(key))),
    );
    for (const note of [both.note, old.note]) {
      await witness.cosign({ ...both, note });
      expect([...texts.values()]).to.deep.equal([both.note]);
    }
  });

  it('names an object that is no checkpoint of its key, or another one than its name says', async () => {
    const object = 'log.example.org%2Facme/000000000000000-9';
    for (const [text, problem] of [
      ['nonsense', 'cannot be read as a checkpoint of this key'],
      [checkpointOf(1).note, 'has a checkpoint of 1 leaves, which is not its name'],
    ] as const) {
      const { objects, texts } = bucketInMemory();
      const { witness, away } = start(objects);
      texts.set(object, text);
      await witness.refresh(['acme']);
      expect(away).to.deep.equal([`Error: s3://bucket/${object}?versionId=a version ${problem}`]);
    }
  });
});
