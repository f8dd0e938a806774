import { expect } from 'chai';
import { sql } from 'kysely';
import type { AcceptedEvent } from '../../../internal/event/event.ts';
import { codeOf, isDataError } from '../../../internal/store/errors.ts';
import { maintain } from '../../../internal/store/partitions/maintain.ts';
import { measurePartitions } from '../../../internal/store/measure.ts';
import { createPartition } from '../../../internal/store/partitions/partitions.ts';
import { createStore } from '../../../internal/store/store.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { untilUnlocked } from '../../../internal/store/until-unlocked.ts';
import { anEvent } from '../../support/events.ts';
import { failureOf } from '../../support/failure.ts';
import { day, keepAll, midnight, now } from '../../support/maintenance-day.ts';
import { eachDatabase, openSession, openDatabase, storedEvents, storedExecutions } from '../../support/store.ts';
import { until } from '../../support/until.ts';

describe('maintenance of the partitions', () => {
  const database = eachDatabase();

  const partitionOf = async (): Promise<Record<string, string>> => {
    const { rows } = await sql<{ at: string; name: string }>`
      select to_char(created_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.MS') as at, tableoid::regclass::text as name
      from events
    `.execute(database.db);
    return Object.fromEntries(rows.map(({ at, name }) => [at, name]));
  };

  it('makes those of today and the days ahead, once', async () => {
    const created = ['events_20261121', 'events_20261122', 'events_20261123'];
    expect(await maintain(database.db, keepAll)).to.deep.equal({ created, dropped: [], moved: 0 });
    expect(await measurePartitions(database.db, keepAll)).to.deep.equal({ daysAhead: 3, defaultRows: 0 });
    expect(await maintain(database.db, keepAll)).to.deep.include({ created: [] });
    const tomorrow = { ...keepAll, now: now + day };
    expect(await measurePartitions(database.db, tomorrow)).to.include({ daysAhead: 2 });
    expect(await maintain(database.db, tomorrow)).to.deep.include({ created: ['events_20261124'] });
  });

  it('reads the bounds of partitions wherever the database is', async () => {
    const { db, url } = database;
    const name = sql.id(new URL(url).pathname.slice(1));
    await sql`alter database ${name} set timezone = 'Asia/Kolkata'`.execute(db);
    await sql`alter database ${name} set datestyle = 'SQL, DMY'`.execute(db);
    await using there = openDatabase(url);
    expect(await sql`show timezone`.execute(there)).to.have.nested.property('rows[0].TimeZone', 'Asia/Kolkata');
    await maintain(there, keepAll);
    expect(await maintain(there, keepAll)).to.deep.equal({ created: [], dropped: [], moved: 0 });
    expect(await measurePartitions(there, keepAll)).to.include({ daysAhead: 3 });
  });

  it('deletes the sessions that have ended', async () => {
    const { db } = database;
    const session = { subject: 's', name: 'n', groups: [] };
    const endsAt = (ms: number) => ({ ...session, digest: Buffer.from(String(ms)), expires_at: new Date(ms) });
    const later = Date.now() + day;
    await db
      .insertInto('sessions')
      .values([endsAt(now), endsAt(later)])
      .execute();
    await createStore(db, { partitionsAhead: 1, retentionDays: 0, overdueAfterHours: 24 }).maintain();
    const left = await db.selectFrom('sessions').select('expires_at').execute();
    expect(left).to.deep.equal([{ expires_at: new Date(later) }]);
  });

  it('is done once, however many do it concurrently', async () => {
    const reports = await Promise.all(Array.from({ length: 6 }, () => maintain(database.db, keepAll)));
    expect(reports.flatMap(({ created }) => created).toSorted()).to.have.length(3);
    expect(await measurePartitions(database.db, keepAll)).to.include({ daysAhead: 3 });
  });

  it('puts events on both sides of midnight UTC where they belong, also those that came before their partition', async () => {
    const { db } = database;
    const events = [-1, 0, 1, day - 1, day].map((offset) => anEvent({ createdAt: midnight + offset }));
    await recordEvents(db, events);
    expect(new Set(Object.values(await partitionOf()))).to.deep.equal(new Set(['events_default']));

    const report = await maintain(db, keepAll);
    expect(report).to.deep.include({ moved: 5 });
    expect(await measurePartitions(db, keepAll)).to.deep.equal({ daysAhead: 3, defaultRows: 0 });
    expect(report.created).to.include('events_20261120');
    await recordEvents(db, [...events, anEvent({ createdAt: midnight + 2 })]);
    expect(await partitionOf()).to.deep.equal({
      '2026-11-20 23:59:59.999': 'events_20261120',
      '2026-11-21 00:00:00.000': 'events_20261121',
      '2026-11-21 00:00:00.001': 'events_20261121',
      '2026-11-21 00:00:00.002': 'events_20261121',
      '2026-11-21 23:59:59.999': 'events_20261121',
      '2026-11-22 00:00:00.000': 'events_20261122',
    });
    expect(await storedEvents(db)).to.have.length(6);
    expect((await storedExecutions(db))[0]?.counts.EVENT).to.equal(6);
  });

  it('makes no dead letter of an event that was on its way into the DEFAULT partition', async () => {
    const { db } = database;
    const event = anEvent({ createdAt: now });
    const { recording } = await db.transaction().execute(async (trx) => {
      await sql`lock table events_default in access exclusive mode`.execute(trx);
      const recording = failureOf(recordEvents(db, [event]));
      await until('the statement waits', async () => {
        const waiting =
          await sql`select from pg_stat_activity where wait_event_type = 'Lock' and query like '%unnest%'`.execute(db);
        return waiting.rows.length > 0;
      });
      await createPartition(trx, midnight);
      return { recording };
    });
    const error = await recording;
    expect(error).to.include({ code: '23514' });
    expect(isDataError(error)).to.equal(false);
    expect(await recordEvents(db, [event])).to.include({ stored: 1 });
  });

  it('loses and doubles nothing while events come in', async () => {
    const { db } = database;
    const events = Array.from({ length: 300 }, (_, index) => anEvent({ createdAt: midnight + index * (day / 100) }));
    const left = [...events];
    const record = async (event: AcceptedEvent): Promise<void> => {
      try {
        await recordEvents(db, [event]);
      } catch (error) {
        // On its way out of the DEFAULT partition: the worker tries again.
        if (codeOf(error) !== '23514') throw error;
        expect(isDataError(error)).to.equal(false);
        left.push(event);
      }
    };
    // As many as the pool has connections: none waits long for one.
    const writers = Array.from({ length: 6 }, async () => {
      for (let event = left.pop(); event !== undefined; event = left.pop()) await record(event);
    });
    const writing = Promise.all(writers);
    // A statement of a slow writer makes maintenance give up, and the next run continues.
    const maintained = () => untilUnlocked(() => maintain(db, keepAll));
    await Promise.all([maintained(), maintained()]);
    await writing;
    await maintain(db, keepAll);
    expect(await storedEvents(db)).to.have.length(300);
    expect((await storedExecutions(db))[0]?.counts.EVENT).to.equal(300);
  });

  it('gives up rather than block writers for long', async () => {
    const { db, url } = database;
    await recordEvents(db, [anEvent({ createdAt: now })]);
    {
      await using reader = await openSession(url);
      await reader.query('begin; select count(*) from events');
      const run = failureOf(maintain(db, keepAll));
      await recordEvents(db, [anEvent({ createdAt: now + 1 })]);
      expect(await run).to.include({ code: '55P03' });
      expect(String(await run)).to.match(/^error: partition of 2026-11-2\d: canceling statement due to lock timeout$/);
    }
    expect(await maintain(db, keepAll)).to.deep.include({ moved: 2 });
    expect(await measurePartitions(db, keepAll)).to.deep.equal({ daysAhead: 3, defaultRows: 0 });
  });
});
