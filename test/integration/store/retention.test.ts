import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { sql } from 'kysely';
import { compactBefore } from '../../../internal/store/compacted/compact.ts';
import { keepDeadLetter } from '../../../internal/store/dead-letters.ts';
import { maintain } from '../../../internal/store/partitions/maintain.ts';
import { createStore } from '../../../internal/store/store.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { countPlaces, everyRow, smallBlocks } from '../../support/compacted.ts';
import { anEvent } from '../../support/events.ts';
import { failureOf } from '../../support/failure.ts';
import { day, keepAll, midnight, now } from '../../support/maintenance-day.ts';
import {
  eachDatabase,
  migratedDatabase,
  openSession,
  storedEvents,
  storedExecutions,
  wrongRunning,
} from '../../support/store.ts';

const keepThree = { ...keepAll, retentionDays: 3 };
const old = midnight - 10 * day;

describe('retention', () => {
  const database = eachDatabase();

  it('drops what is past retention: events, executions that ended in them, dead letters; and nothing with 0', async () => {
    const { db } = database;
    await recordEvents(db, [
      anEvent({ executionId: 'ended', createdAt: old }),
      anEvent({ executionId: 'ended', createdAt: old + day - 1 }),
      anEvent({ executionId: 'lives on', createdAt: old }),
      anEvent({ executionId: 'lives on', createdAt: now }),
      anEvent({ executionId: 'last kept day', createdAt: midnight - 3 * day }),
    ]);
    await keepDeadLetter(db, anEvent({ executionId: 'dead' }), 'test');
    await sql`update dead_letters set dead_at = ${new Date(old)}`.execute(db);
    expect((await maintain(db, keepAll)).dropped).to.deep.equal([]);
    expect(await storedExecutions(db)).to.have.length(3);

    const report = await maintain(db, keepThree);
    expect(report.dropped).to.deep.equal(['events_20261111']);
    const left = (await storedExecutions(db)).map(({ executionId }) => executionId);
    expect(left.toSorted()).to.deep.equal(['last kept day', 'lives on']);
    expect((await storedEvents(db)).map(({ executionId }) => executionId)).to.deep.equal(['last kept day', 'lives on']);
    expect(await wrongRunning(db)).to.deep.equal([]);
    expect(await db.selectFrom('dead_letters').selectAll().execute()).to.deep.equal([]);
  });

  it('keeps an execution as long as one of its events, whenever they happened', async () => {
    const { db } = database;
    const [lastDropped, kept] = [midnight - 3 * day - 1, midnight - 3 * day];
    await recordEvents(db, [
      anEvent({ executionId: 'late', createdAt: kept, occurredAt: old }),
      anEvent({ executionId: 'all dropped', createdAt: lastDropped, occurredAt: old }),
      anEvent({ executionId: 'ahead', createdAt: lastDropped, occurredAt: lastDropped + 5 * 60_000 }),
      anEvent({ executionId: 'ahead, then one more', createdAt: lastDropped, occurredAt: kept + 1 }),
      anEvent({ executionId: 'ahead, then one more', createdAt: kept }),
    ]);
    await maintain(db, keepAll);
    await maintain(db, keepThree);
    const left = (await storedExecutions(db)).map(({ executionId }) => executionId);
    expect(left.toSorted()).to.deep.equal(['ahead, then one more', 'late']);
    expect(await storedEvents(db)).to.have.length(2);
    expect(await wrongRunning(db)).to.deep.equal([]);
  });

  it('deletes more executions than fit into one slice', async () => {
    const { db } = database;
    const runs = Array.from({ length: 525 }, (_, index) => `run ${index}`);
    // The first key has no twin, so that the slice ends between two that differ in their
    // organization only.
    const events = [
      anEvent({ executionId: 'a run', createdAt: old }),
      ...runs.flatMap((executionId) => [
        anEvent({ executionId, createdAt: old, organization: 'acme' }),
        anEvent({ executionId, createdAt: old, organization: 'globex' }),
      ]),
    ];
    await recordEvents(db, events);
    await maintain(db, keepThree);
    expect(await storedExecutions(db)).to.deep.equal([]);
  });

  it('bounds compacted executions day by day as it bounds rows', async () => {
    const { db } = database;
    await using compacting = await migratedDatabase();
    // Of three automations, for seven days: each lasts from none to three days.
    const executions = Array.from({ length: 300 }, (_, at) => {
      const createdAt = midnight - 6 * day + Math.floor((at * 6 * day) / 300);
      const automationId = `0190a0b0-0000-7000-8000-00000000000${at % 3}`;
      const run = { automationId, executionId: at % 5 === 0 ? anEvent().id : `run ${at}` };
      const end = anEvent({ ...run, kind: 'END', createdAt: createdAt + ((at * 7) % 10) * (0.3 * day) });
      // Some tell later of what was before.
      const late = anEvent({ ...run, kind: 'WARNING', createdAt: end.createdAt + day, occurredAt: end.createdAt });
      return [anEvent({ ...run, createdAt }), end, ...(at % 7 === 0 ? [late] : [])];
    });
    const ended = executions.flat().filter(({ createdAt }) => createdAt < now);
    for (const one of [db, compacting.db]) {
      await recordEvents(one, ended);
      if (one !== db) await compactBefore(one, midnight - 2 * day, smallBlocks);
      await sql`delete from events where created_at < ${new Date(midnight - 2 * day)}`.execute(one);
      await sql`
        insert into cold_days (organization, day, object, rows, manifest_sha256)
        select 'acme', day::date, 'events.parquet', 1, repeat('0', 64)
        from generate_series(${'2026-11-15'}::date, ${'2026-11-18'}::date, interval '1 day') as day
      `.execute(one);
    }
    const { compacted } = await countPlaces(compacting.db);
    expect(compacted).to.be.above(100);
    for (let after = 0; after <= 5; after += 1) {
      const run = { ...keepThree, now: now + after * day };
      await maintain(db, run);
      await maintain(compacting.db, { ...run, hotDays: 2, compaction: smallBlocks });
      const left = await everyRow(db);
      expect(await everyRow(compacting.db), `after ${after} days`).to.deep.equal(left);
      const places = await countPlaces(compacting.db);
      expect(places.keys).to.equal(places.compacted);
      if (after === 0) expect(places.compacted).to.be.within(20, compacted - 60);
      expect(left.length > 0, `after ${after} days`).to.equal(after < 4);
    }
  });

  it('deletes compacted executions although no cold day of theirs ends, and no others of their blocks', async () => {
    const { db } = database;
    const ends = [0, 1, 2, 3, 4, 5, 6].map((at) =>
      anEvent({ kind: 'END', executionId: `run ${at}`, createdAt: midnight - (at < 4 ? 4 : 3) * day + at }),
    );
    await recordEvents(db, [...ends, anEvent({ kind: 'END', executionId: 'newest', createdAt: now })]);
    await compactBefore(db, midnight, smallBlocks);
    expect(await countPlaces(db)).to.deep.equal({ rows: 2, compacted: 6, keys: 6 });
    await maintain(db, keepThree);
    expect((await everyRow(db)).map((one) => one.execution_id)).to.deep.equal(['newest', 'run 4', 'run 5', 'run 6']);
    expect(await countPlaces(db)).to.deep.equal({ rows: 4, compacted: 0, keys: 0 });
  });

  it('deletes no execution while a reader keeps its events from being dropped', async () => {
    const { db, url } = database;
    await recordEvents(db, [anEvent({ kind: 'ERROR', createdAt: old })]);
    await maintain(db, keepAll);
    {
      await using reader = await openSession(url);
      await reader.query('begin; select count(*) from events_20261111');
      const error = await failureOf(maintain(db, keepThree));
      expect(String(error)).to.equal('error: partition of 2026-11-11: canceling statement due to lock timeout');
      expect(await states()).to.deep.equal(['failed']);
    }
    expect(await maintain(db, keepThree)).to.deep.include({ dropped: ['events_20261111'] });
    expect(await states()).to.deep.equal([]);
  });

  it('continues where a run was stopped; events and executions agree meanwhile, also when the day comes again', async () => {
    const { db } = database;
    await recordEvents(db, [
      anEvent({ kind: 'START', createdAt: old }),
      anEvent({ kind: 'ERROR', createdAt: old + 1 }),
      anEvent({ executionId: 'of the day after', createdAt: old + day }),
    ]);
    await maintain(db, keepAll);
    await sql`create view of_an_auditor as select * from events_20261111`.execute(db);
    expect(await failureOf(maintain(db, keepThree))).to.include({ code: '2BP01' });
    expect([await storedEvents(db), await states()]).to.deep.equal([[], []]);

    await recordEvents(db, [anEvent({ kind: 'END', createdAt: old + 2 })]);
    await sql`drop view of_an_auditor`.execute(db);
    const { dropped } = await maintain(db, keepThree);
    expect(dropped).to.deep.equal(['events_20261111', 'events_20261111', 'events_20261112']);
    expect([await storedEvents(db), await states()]).to.deep.equal([[], []]);
  });

  it('asks before it drops more days than may have passed, and drops those that a person approves', async () => {
    const { db } = database;
    const days = [0, 1, 2, 3, 4].map((after) => old + after * day);
    await recordEvents(
      db,
      days.map((createdAt) => anEvent({ createdAt })),
    );
    await keepDeadLetter(db, anEvent(), 'test');
    await sql`update dead_letters set dead_at = ${new Date(old)}`.execute(db);
    await maintain(db, keepAll);
    const dropsNothing = { dropped: [], asks: { partitions: 5, before: '2026-11-18' } };
    const runbook = await readFile('docs/operate/runbooks/RunledgerRetentionAsks.md', 'utf8');
    const [statement = ''] = /insert into retention_approvals .*/.exec(runbook) ?? [];
    const approve = (before: string) => sql.raw(statement.replace(/\d{4}-\d\d-\d\d/, before)).execute(db);

    expect(await maintain(db, keepThree)).to.deep.include(dropsNothing);
    // A day to come approves nothing.
    await approve('2026-11-22');
    expect(await maintain(db, keepThree)).to.deep.include(dropsNothing);
    await approve('2026-11-12');
    expect(await maintain(db, keepThree)).to.deep.include({
      dropped: [],
      asks: { partitions: 4, before: '2026-11-18' },
    });
    expect(await storedEvents(db)).to.have.length(5);
    expect(await db.selectFrom('dead_letters').selectAll().execute()).to.have.length(1);

    await approve('2026-11-14');
    expect((await maintain(db, keepThree)).dropped).to.have.length(5);
    expect([await storedEvents(db), await states()]).to.deep.equal([[], []]);
    expect(await db.selectFrom('dead_letters').selectAll().execute()).to.deep.equal([]);
  });

  it('goes by the clock of Postgres, and drops nothing while that of the worker differs', async () => {
    const { db } = database;
    const today = Math.floor(Date.now() / day) * day;
    await recordEvents(db, [anEvent({ createdAt: today - 10 * day }), anEvent({ createdAt: today - day })]);
    await sql`insert into sessions (digest, subject, name, groups, expires_at)
      values (decode('00', 'hex'), 'a', 'a', '{}', now() + interval '1 day')`.execute(db);
    const store = createStore(db, { partitionsAhead: 1, retentionDays: 3, overdueAfterHours: 24 });
    // A process cannot be given another clock while it runs.
    const trueClock = Date.now;
    for (const [wrongBy, drops] of [
      [365 * day, 0],
      [-365 * day, 0],
      [61_000, 0],
      [1_000, 1],
    ] as const) {
      Date.now = () => trueClock() + wrongBy;
      try {
        const report = await store.maintain();
        expect(report.dropped, `the clock is ${wrongBy} ms ahead`).to.have.length(drops);
        expect(report.clocksDiffer).to.equal(drops === 0 ? true : undefined);
        expect(report.clockAheadMs).to.be.within(wrongBy - 1_000, wrongBy + 1_000);
        expect(await store.measure()).to.include({ daysAhead: 2 });
      } finally {
        Date.now = trueClock;
      }
    }
    expect(await db.selectFrom('sessions').selectAll().execute()).to.have.length(1);
  });

  const states = async (): Promise<string[]> => (await storedExecutions(database.db)).map(({ state }) => state);
});
