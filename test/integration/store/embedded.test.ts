import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { sql } from 'kysely';
import { readAs } from '../../../internal/record/read-as.ts';
import { executionsOf } from '../../support/outcome-oracle.ts';
import { openEmbedded } from '../../../internal/store/embedded.ts';
import { migrateToLatest } from '../../../internal/store/migrate.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { sealOlder } from '../../../internal/store/ledger/seal-older.ts';
import { createStore } from '../../../internal/store/store.ts';
import { checkLog } from '../../support/check-ledger.ts';
import { failureOf } from '../../support/failure.ts';
import { anEvent } from '../../support/events.ts';
import { seal, macKey, withLeaves } from '../../support/sealed-ledger.ts';
import { storedEvents, storedExecutions } from '../../support/store.ts';

describe('embedded Postgres', function () {
  this.timeout(60_000);
  let folder: string;
  // Initializing one takes seconds: the tests share it.
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'runledger-embedded-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('runs no statement within a transaction of another caller', async () => {
    const db = await openEmbedded(folder);
    try {
      await sql`create table seen (number integer)`.execute(db);
      const begun = Promise.withResolvers<void>();
      const end = Promise.withResolvers<never>();
      const rolledBack = db.transaction().execute(() => (begun.resolve(), end.promise));
      await begun.promise;
      const inserted = sql`insert into seen values (1)`.execute(db);
      const read = readAs(db, 'acme', (trx) => sql`select number from seen`.execute(trx));
      end.reject(new Error('rolled back'));
      expect(String(await failureOf(rolledBack))).to.include('rolled back');
      await inserted;
      expect((await read).rows).to.deep.equal([{ number: 1 }]);
    } finally {
      await db.destroy();
    }
  });

  it('keeps events, executions, dead letters and partitions like the real one, over a restart', async () => {
    const now = Date.now();
    const events = (['START', 'ERROR', 'END'] as const).map((kind, index) => anEvent({ kind, createdAt: now + index }));
    let db = await openEmbedded(folder);
    expect(await migrateToLatest(db, { concurrently: false })).to.have.length.above(0);
    expect(await migrateToLatest(db, { concurrently: false })).to.deep.equal([]);
    let store = createStore(db, { partitionsAhead: 1, retentionDays: 30, overdueAfterHours: 24 });
    const results = await Promise.all([store.recordEvents(events.slice(0, 2)), store.recordEvents(events)]);
    expect(results.reduce((sum, { stored }) => sum + stored, 0)).to.equal(3);
    expect(store.isDataError(await failureOf(store.recordEvents([anEvent({ description: '\0' })])))).to.equal(true);
    await store.keepDeadLetter(anEvent({ description: '\0' }), 'NUL');
    await db.destroy();

    db = await openEmbedded(folder);
    store = createStore(db, { partitionsAhead: 1, retentionDays: 30, overdueAfterHours: 24 });
    expect(await store.maintain()).to.deep.include({ moved: 3 });
    expect(await store.measure()).to.deep.equal({ daysAhead: 2, defaultRows: 0, running: 0, overdue: 0 });
    expect(await storedEvents(db)).to.deep.equal(events);
    expect(await storedExecutions(db)).to.deep.equal([...executionsOf(events).values()]);
    expect(await db.selectFrom('dead_letters').select('reason').execute()).to.deep.equal([{ reason: 'NUL' }]);
    await db.destroy();
  });

  it('keeps a log like the real one, also of events that were stored before', async () => {
    const db = await openEmbedded(folder);
    try {
      await recordEvents(
        db,
        Array.from({ length: 300 }, () => anEvent()),
        withLeaves,
      );
      const step = { organization: 'acme', by: 'ana', reason: 'before the log', most: 1_000, pageSize: 3 };
      expect(await sealOlder(db, macKey, step)).to.include({ looked: 303, added: 3 });
      await seal(db);
      await checkLog(db, 'acme');
    } finally {
      await db.destroy();
    }
  });
});
