import { expect } from 'chai';
import { sql } from 'kysely';
import type { AcceptedEvent } from '../../../internal/event/event.ts';
import { isDataError } from '../../../internal/store/errors.ts';
import { maintain } from '../../../internal/store/partitions/maintain.ts';
import { measurePartitions } from '../../../internal/store/measure.ts';
import { listPartitions } from '../../../internal/store/partitions/partitions.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { untilUnlocked } from '../../../internal/store/until-unlocked.ts';
import { anEvent } from '../../support/events.ts';
import { failureOf } from '../../support/failure.ts';
import { day, keepAll, midnight, now } from '../../support/maintenance-day.ts';
import { query } from '../../support/postgres-server.ts';
import { eachDatabase, openSession } from '../../support/store.ts';
import { until } from '../../support/until.ts';

describe('maintenance with events in the DEFAULT partition', () => {
  const database = eachDatabase();

  /** More events of a day than are moved. */
  const many = 100_001;
  // Without the time limit of the statements of Runledger: a busy machine takes longer for so many.
  const storeMany = async (from: number): Promise<void> => {
    await query(
      database.url,
      `insert into events
       select 'acme', '${new Date(from).toISOString()}'::timestamptz + make_interval(secs => i / 10.0),
         gen_random_uuid(), gen_random_uuid(), null, 'run', 'EVENT', '', '', ''
       from generate_series(1, ${many}) as i`,
    );
  };
  const countByPartition = async (): Promise<Record<string, number>> => {
    const { rows } = await sql<{ name: string; events: number }>`
      select tableoid::regclass::text as name, count(*)::integer as events from events group by 1
    `.execute(database.db);
    return Object.fromEntries(rows.map(({ name, events }) => [name, events]));
  };
  const waiting = (query: string) => async (): Promise<boolean> => {
    const { rows } = await sql`
      select from pg_stat_activity where wait_event_type = 'Lock' and query like ${query}
    `.execute(database.db);
    return rows.length > 0;
  };

  it('shows each event once to a reader who waits meanwhile', async () => {
    const { db, url } = database;
    // Of the steps of the next run, only the one that moves is left.
    await maintain(db, { ...keepAll, now: now + day });
    await recordEvents(
      db,
      Array.from({ length: 50 }, (_, index) => anEvent({ createdAt: now + index })),
    );
    {
      await using holder = await openSession(url);
      await holder.query('begin; select from events_default limit 1');
      const run = maintain(db, keepAll);
      await until('the maintenance waits', waiting('lock table events_default%'));
      const reading = query(url, 'select count(*)::integer as rows from events');
      await until('the reader waits', waiting('select count(*)::integer as rows from events'));
      await holder.query('commit');
      expect(await run).to.include({ moved: 50 });
      expect(await reading).to.deep.equal([{ rows: 50 }]);
    }
  });

  it('makes partitions for empty days first, and says which one it could not make', async () => {
    const { db, url } = database;
    await recordEvents(db, [anEvent({ createdAt: now })]);
    const blocked = `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$;
      create trigger refuse before delete on events_default for each row execute function refuse()`;
    await query(url, blocked);
    expect(String(await failureOf(maintain(db, keepAll)))).to.equal('error: partition of 2026-11-21: no');
    expect((await listPartitions(db)).map(({ name }) => name)).to.deep.equal(['events_20261122', 'events_20261123']);
    expect(await measurePartitions(db, keepAll), 'today has none').to.deep.equal({ daysAhead: 0, defaultRows: 1 });
    await query(url, 'drop trigger refuse on events_default');
    await maintain(db, keepAll);
    expect(await measurePartitions(db, keepAll)).to.deep.equal({ daysAhead: 3, defaultRows: 0 });
  });

  it('lets too many events to move stay where they are: their table becomes the partition of their days', async () => {
    const { db } = database;
    const yesterday = midnight - day;
    await storeMany(yesterday - day);
    await storeMany(midnight);
    // A quiet day between the two.
    const known = anEvent({ createdAt: yesterday });
    await recordEvents(db, [known, anEvent({ createdAt: now + 40 * day })]);

    const report = await maintain(db, keepAll);
    const created = ['events_20261122', 'events_20261123', 'events_20261231', 'events_20261119_20261121'];
    expect(report).to.deep.equal({ created, dropped: [], moved: 1 });
    expect(await measurePartitions(db, keepAll)).to.deep.equal({ daysAhead: 3, defaultRows: 0 });
    expect(await maintain(db, keepAll)).to.deep.include({ created: [] });

    expect(await recordEvents(db, [known]), 'delivered again').to.include({ stored: 0 });
    const others = [now + 1, yesterday, now + 50 * day].map((createdAt) => anEvent({ createdAt }));
    expect(await recordEvents(db, others)).to.include({ stored: 3 });
    const found = { events_20261119_20261121: 2 * many + 3, events_20261231: 1, events_default: 1 };
    expect(await countByPartition()).to.deep.equal(found);

    expect((await maintain(db, { ...keepAll, now: now + 2 * day, retentionDays: 2 })).dropped).to.deep.equal([]);
    const later = await maintain(db, { ...keepAll, now: now + 3 * day, retentionDays: 2 });
    expect(later.dropped).to.deep.equal(['events_20261119_20261121']);
  });

  it('loses and doubles nothing while events of the day come in, again and again', async () => {
    const { db } = database;
    await storeMany(midnight);
    const events = Array.from({ length: 200 }, (_, index) => anEvent({ createdAt: now + index }));
    const record = async (event: AcceptedEvent): Promise<number> => {
      try {
        return (await recordEvents(db, [event])).stored;
      } catch (error) {
        expect(isDataError(error), String(error)).to.equal(false);
        return record(event);
      }
    };
    const writing = Promise.all([...events, ...events.toReversed()].map((event) => record(event)));
    // A statement of a slow writer makes maintenance give up, and the next run continues.
    await untilUnlocked(() => maintain(db, keepAll));
    const stored = (await writing).reduce((sum, count) => sum + count, 0);
    expect([stored, await countByPartition()]).to.deep.equal([200, { events_20261121: many + 200 }]);
  });
});
