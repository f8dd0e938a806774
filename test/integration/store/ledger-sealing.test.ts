import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { sql } from 'kysely';
import { isConsistent, proveConsistency } from '../../../internal/ledger/proofs.ts';
import { readAct } from '../../../internal/ledger/act.ts';
import { readVerifierKey } from '../../../internal/ledger/keys.ts';
import { leafOf } from '../../../internal/ledger/leaf.ts';
import { HeadSigner, SignedHeads, type HeadMemory } from '../../../internal/ledger/signer.ts';
import { nodesOfTiles } from '../../../internal/ledger/tiles.ts';
import { getCheckpoint, getTile } from '../../../internal/record/ledger.ts';
import { extendLedgers, retryRefused } from '../../../internal/store/ledger/extend-ledgers.ts';
import { segmentOf } from '../../../internal/store/ledger/leaves-of-batch.ts';
import { closeDatabase } from '../../../internal/store/organizations/move/fence.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { countUnsealed, sealOlder } from '../../../internal/store/ledger/seal-older.ts';
import { inSealTurn } from '../../../internal/store/ledger/seal-turn.ts';
import { signLedgers, type SignHead } from '../../../internal/store/ledger/sign-ledgers.ts';
import { FolderMemory } from '../../../internal/ledger/witness/folder-memory.ts';
import { anEvent } from '../../support/events.ts';
import { failureOf } from '../../support/failure.ts';
import { checkLog } from '../../support/check-ledger.ts';
import { headOf, idsInLog, logKeys, publicLogKey, seal, macKey, withLeaves } from '../../support/sealed-ledger.ts';
import { eachDatabase } from '../../support/store.ts';

const several = (count: number, organization = 'acme') =>
  Array.from({ length: count }, () => anEvent({ organization }));

describe('the sealer', () => {
  const database = eachDatabase();

  it('gives each stored event one place, over the ends of tiles, for each organization', async () => {
    const { db } = database;
    const stored = { acme: several(700), globex: several(3, 'globex') };
    // Batches of 1, 2, 3, … events, with some sealed between.
    const waiting = [...stored.acme];
    for (let size = 1; waiting.length > 0; size += 1) {
      await recordEvents(db, waiting.splice(0, size), withLeaves);
      if (size % 5 === 0) await seal(db, 40);
    }
    await recordEvents(db, stored.globex, withLeaves);
    await seal(db);

    for (const [organization, events] of Object.entries(stored)) {
      const ids = await idsInLog(db, organization);
      expect([...ids].sort()).to.deep.equal(events.map(({ id }) => id).sort());
      await checkLog(db, organization);
    }
    expect(await db.selectFrom('log_segments').selectAll().execute()).to.deep.equal([]);
    expect((await db.selectFrom('log_tails').selectAll().execute()).length).to.be.above(0);
  });

  it('extends what it has signed, also in the same hour', async () => {
    const { db } = database;
    const heads = [];
    for (const count of [1, 255, 1, 300]) {
      await recordEvents(db, several(count), withLeaves);
      await seal(db);
      heads.push(await headOf(db));
    }
    expect(heads.map(({ size }) => size)).to.deep.equal([1, 256, 257, 557]);
    const last = heads.at(-1) ?? { size: 0, root: Buffer.alloc(0) };
    const read = nodesOfTiles((level, index) => getTile(db, 'acme', { level, index }));
    for (const head of heads) {
      expect(isConsistent(head, last, await proveConsistency(head.size, last.size, read)), String(head.size)).to.equal(
        true,
      );
    }
  });

  it('leaves an organization on its way here alone, whose segments have the numbers of others', async () => {
    const { db } = database;
    for (const organization of ['acme', 'globex']) await recordEvents(db, several(2, organization), withLeaves);
    await sql`alter table log_segments alter id drop identity`.execute(db);
    await db.updateTable('log_segments').set({ id: '1' }).execute();
    await closeDatabase(db, 'globex', 'eu');
    expect(await extendLedgers(db, [macKey], 10)).to.deep.equal({ placed: 2, refused: [] });
    const left = await db.selectFrom('log_segments').select(['organization', 'id']).execute();
    expect(left).to.deep.equal([{ organization: 'globex', id: '1' }]);
  });

  it('works in one process at a time', async () => {
    const { db } = database;
    await recordEvents(db, several(1), withLeaves);
    await inSealTurn(db, async () => {
      expect(await extendLedgers(db, [macKey], 10)).to.equal(undefined);
      expect(await signLedgers(db, [macKey], async () => ({ note: 'note' }))).to.equal(undefined);
    });
    expect(await extendLedgers(db, [macKey], 10)).to.deep.equal({ placed: 1, refused: [] });
  });

  it('signs only what is committed, and nothing twice', async () => {
    const { db } = database;
    await recordEvents(db, several(1), withLeaves);
    const signed: number[] = [];
    const sign: SignHead = async ({ head }) => ({ note: `note ${signed.push(head.size)}` });
    expect(await signLedgers(db, [macKey], sign)).to.deep.equal({ signed: 0, refused: [] });
    await extendLedgers(db, [macKey], 10);
    expect(await signLedgers(db, [macKey], sign)).to.deep.equal({ signed: 1, refused: [] });
    expect(await signLedgers(db, [macKey], sign)).to.deep.equal({ signed: 0, refused: [] });
    expect(signed).to.deep.equal([1]);
  });

  /** Signs as a worker does that remembers what these memories have. */
  const signWith = (...memories: HeadMemory[]) => {
    const signer = new HeadSigner(logKeys, memories);
    return () => signLedgers(database.db, [macKey], (log) => signer.sign(log));
  };
  const storeAndPlace = async (count: number): Promise<void> => {
    await recordEvents(database.db, several(count), withLeaves);
    await extendLedgers(database.db, [macKey], 100);
  };
  /** The database of before, where other events follow. */
  const restoreOlder = async (...tables: ('log_checkpoints' | 'log_segments')[]): Promise<void> => {
    for (const table of ['log_trees', 'log_tails', ...tables] as const) await database.db.deleteFrom(table).execute();
  };
  const refusal = (reason: string) => ({ signed: 0, refused: [{ organization: 'acme', reason }] });
  const smaller = refusal('it has 3 leaves, and 5 were signed');
  const other = refusal('its first 5 leaves are not those that were signed');

  it('refuses a log that contradicts its last checkpoint, as after restoring a backup', async () => {
    const sign = signWith(new SignedHeads());
    await storeAndPlace(5);
    await sign();
    const { note } = (await getCheckpoint(database.db, 'acme')) ?? {};

    await restoreOlder();
    await storeAndPlace(3);
    expect(await sign()).to.deep.equal(smaller);
    expect(await signWith()()).to.deep.equal(smaller);
    expect(await getCheckpoint(database.db, 'acme')).to.include({ note });
    await restoreOlder('log_checkpoints');
    await storeAndPlace(3);
    expect(await sign()).to.deep.equal(smaller);
    await storeAndPlace(2);
    expect(await sign()).to.deep.equal(other);
    await storeAndPlace(300);
    expect(await sign()).to.deep.equal(other);
  });

  it('refuses it after a restart too, with a folder that remembers', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'runledger-heads-'));
    try {
      // Each has just started.
      const sign = (): ReturnType<typeof signLedgers> =>
        signWith(new FolderMemory(folder, [readVerifierKey(publicLogKey)]))();
      for (const count of [2, 3]) {
        await storeAndPlace(count);
        expect(await sign()).to.deep.equal({ signed: 1, refused: [] });
      }
      await restoreOlder('log_checkpoints');
      await storeAndPlace(3);
      expect(await sign()).to.deep.equal(smaller);
      await storeAndPlace(300);
      expect(await sign()).to.deep.equal(other);

      const file = join(folder, 'log.example.org%2Facme');
      const note = await readFile(file, 'utf8');
      expect(note).to.match(/^log\.example\.org\/acme\n5\n/);
      await writeFile(file, note.replace('5', '4'));
      expect(String(await failureOf(sign()))).to.contain(`${file} cannot be read as a checkpoint of this key`);
      await rm(folder, { recursive: true });
      expect(String(await failureOf(sign()))).to.contain(`the folder ${folder} of LEDGER_WITNESSES cannot be written`);
      expect(await getCheckpoint(database.db, 'acme')).to.equal(undefined);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

describe('events that were stored without a log', () => {
  const database = eachDatabase();

  it('get a leaf each by an act of a person, which the log records with their range', async () => {
    const { db } = database;
    const at = (createdAt: number) => anEvent({ createdAt: Date.now() - 60_000 + createdAt, description: 'x' });
    const [before, during, after] = [[at(1), at(2), at(3), at(4), at(5)], [at(6), at(7)], [at(8)]];
    await recordEvents(db, before);
    await recordEvents(db, several(2, 'globex'));
    const salts = async () =>
      (await db.selectFrom('events').select('salt').where('organization', '=', 'acme').execute()).map(
        ({ salt }) => salt?.length,
      );
    expect(await salts()).to.deep.equal(before.map(() => undefined));
    await recordEvents(db, during, withLeaves);
    await extendLedgers(db, [macKey], 10);
    await recordEvents(db, after, withLeaves);
    await seal(db);
    expect((await idsInLog(db)).sort()).to.deep.equal([...during, ...after].map(({ id }) => id).sort());

    const step = { organization: 'acme', by: 'ana', reason: 'before the log', most: 4, pageSize: 3 };
    const first = await sealOlder(db, macKey, step);
    const second = await sealOlder(db, macKey, { ...step, after: first.last });
    const third = await sealOlder(db, macKey, { ...step, after: second.last });
    expect([first, second, third].map(({ looked, added }) => [looked, added])).to.deep.equal([
      [4, 4],
      [4, 1],
      [0, 0],
    ]);
    await seal(db);
    const acts = await db.selectFrom('log_acts').select('act').orderBy('id').execute();
    const read = acts.map(({ act }) => readAct(act));
    expect(read.map(({ kind, by, details }) => ({ kind, by, ...details }))).to.deep.equal(
      [before.slice(0, 4), before.slice(4)].map((some) => ({
        kind: 'older-events-sealed',
        by: 'ana',
        reason: 'before the log',
        first: some[0]?.id,
        last: some.at(-1)?.id,
        events: String(some.length),
      })),
    );
    const ids = [...before, ...during, ...after, ...read].map(({ id }) => id);
    expect((await idsInLog(db)).sort()).to.deep.equal(ids.sort());
    expect(await salts()).to.deep.equal(ids.slice(0, 8).map(() => 16));
    expect(await db.selectFrom('rewritten_events').select('id').execute()).to.have.lengthOf(before.length);
    expect(await countUnsealed(db, 'acme', 3)).to.equal(0);
    expect(await countUnsealed(db, 'globex', 3)).to.equal(2);
    await checkLog(db, 'acme');
  });
});

describe('leaves without a MAC', () => {
  const database = eachDatabase();

  it('get no place, are named, and get one once a key fits', async () => {
    const { db } = database;
    const [own, forged, other] = [several(2), several(1), several(1)];
    await recordEvents(db, own, withLeaves);
    const leaves = Buffer.concat(forged.map((event) => leafOf({ organization: 'acme', id: event.id })));
    await db.insertInto('log_segments').values({ organization: 'acme', leaves, mac: null }).execute();
    const { mac } = segmentOf('globex', leaves, macKey);
    await db.insertInto('log_segments').values({ organization: 'acme', leaves, mac }).execute();
    await db
      .insertInto('log_segments')
      .values({ organization: 'acme', leaves: Buffer.from('x'), mac })
      .execute();
    await recordEvents(db, other, { macKey: Buffer.alloc(32, 7) });

    const refused = [forged, forged, [], other].map((events) => ({
      organization: 'acme',
      ids: events.map(({ id }) => id),
      leaves: events.length,
    }));
    expect(await extendLedgers(db, [macKey], 100)).to.deep.equal({ placed: 2, refused });
    expect(await extendLedgers(db, [macKey], 100)).to.deep.equal({ placed: 0, refused: [] });
    await seal(db);
    expect((await idsInLog(db)).sort()).to.deep.equal(own.map(({ id }) => id).sort());

    expect(await retryRefused(db)).to.equal(4);
    const report = await extendLedgers(db, [macKey, Buffer.alloc(32, 7)], 100);
    expect([report?.placed, report?.refused.length]).to.deep.equal([1, 3]);
  });

  const sign: SignHead = async ({ head }) => ({ note: `note of ${head.size}` });

  it('neither extends nor signs a tree that no sealer made, and goes on with other logs', async () => {
    const { db } = database;
    const store = () => recordEvents(db, [...several(1), ...several(1, 'globex')], withLeaves);
    const ofAcme = () =>
      db.selectFrom('log_trees').select(['size', 'mac', 'refused']).where('organization', '=', 'acme');
    await store();
    await extendLedgers(db, [macKey], 100);
    expect(await signLedgers(db, [macKey], sign)).to.deep.equal({ signed: 2, refused: [] });
    const { mac } = await ofAcme().executeTakeFirstOrThrow();
    for (const forged of [null, Buffer.alloc(16), Buffer.from('x')]) {
      await db.updateTable('log_trees').set({ mac: forged, size: '2' }).where('organization', '=', 'acme').execute();
      await store();
      expect(await extendLedgers(db, [macKey], 100)).to.deep.equal({ placed: 1, refused: [] });
      expect(await signLedgers(db, [macKey], sign)).to.deep.equal({
        signed: 1,
        refused: [{ organization: 'acme', reason: 'somebody without a key of the log changed its end' }],
      });
      expect(await ofAcme().executeTakeFirstOrThrow()).to.deep.include({ size: '2', refused: true });
    }
    await db.updateTable('log_trees').set({ mac, size: '1' }).where('organization', '=', 'acme').execute();
    expect(await extendLedgers(db, [macKey], 100)).to.deep.equal({ placed: 3, refused: [] });
    expect(await signLedgers(db, [macKey], sign)).to.deep.equal({ signed: 1, refused: [] });
    expect(await ofAcme().executeTakeFirstOrThrow()).to.deep.include({ size: '4', refused: false });
  });

  it('knows a tree by each of its keys, so that the old one can go once all are signed again', async () => {
    const { db } = database;
    const next = Buffer.alloc(32, 7);
    await recordEvents(db, several(1), withLeaves);
    await extendLedgers(db, [macKey], 100);
    await signLedgers(db, [macKey], sign);
    const signs = (keys: Buffer[]) => signLedgers(db, keys, sign, { isSigned: () => false });
    for (const keys of [[next, macKey], [macKey], [next, macKey], [next]]) {
      expect(await signs(keys)).to.deep.equal({ signed: 1, refused: [] });
    }
    expect((await signs([macKey]))?.refused).to.have.length(1);
  });
});
