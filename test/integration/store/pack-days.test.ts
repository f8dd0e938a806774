import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { advisoryLocks } from '../../../internal/store/advisory-locks.ts';
import { packDays } from '../../../internal/store/partitions/pack-days.ts';
import { maintain } from '../../../internal/store/partitions/maintain.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { withTurn } from '../../../internal/store/with-turn.ts';
import { anEvent } from '../../support/events.ts';
import { failureOf } from '../../support/failure.ts';
import { day, keepAll, midnight, now } from '../../support/maintenance-day.ts';
import { query } from '../../support/postgres-server.ts';
import { eachDatabase } from '../../support/store.ts';

/** Days that are over at noon of the last one. */
const over = { from: midnight - 9 * day, to: midnight };

const [older, today] = ['events_20261119', 'events_20261121'];

describe('days that are over', () => {
  const database = eachDatabase();
  beforeEach(async () => {
    const { db } = database;
    for (const at of [now - 2 * day, now]) {
      await recordEvents(db, [anEvent({ createdAt: at })]);
      await maintain(db, keepAll);
      // Each statement adds keys between those of all others.
      for (let batch = 0; batch < 20; batch += 1) {
        const events = Array.from({ length: 300 }, (_, n) =>
          anEvent({ automationId: randomUUID(), createdAt: at + n }),
        );
        await recordEvents(db, events);
      }
    }
  });

  const sizeOf = async (table: string): Promise<number> => {
    const [row] = await query<{ size: number }>(database.url, `select pg_indexes_size('${table}')::float8 as size`);
    return row?.size ?? 0;
  };
  const invalid = () => query(database.url, 'select indexrelid::regclass::text from pg_index where not indisvalid');

  it('get smaller indexes once, and today gets none', async () => {
    const before = { older: await sizeOf(older), today: await sizeOf(today) };
    expect(await packDays(database.db, over)).to.deep.equal([older]);
    expect(await sizeOf(older)).to.be.below(before.older * 0.85);
    expect(await sizeOf(today)).to.equal(before.today);
    expect(await packDays(database.db, over)).to.deep.equal([]);
  });

  it('get them after an interrupted run, too', async () => {
    await query(database.url, `create index events_left_ccnew on ${older} (kind)`);
    await query(
      database.url,
      `update pg_index set indisvalid = false where indexrelid = 'events_left_ccnew'::regclass`,
    );
    expect(await packDays(database.db, over)).to.deep.equal([older]);
    expect(await invalid()).to.deep.equal([]);
    expect(await query(database.url, `select to_regclass('events_left_ccnew') as left`)).to.deep.equal([
      { left: null },
    ]);
  });

  it('are left alone once their export is told to end', async () => {
    const before = await sizeOf(older);
    expect(await failureOf(packDays(database.db, over, AbortSignal.abort()))).to.have.property('name', 'AbortError');
    expect(await sizeOf(older)).to.equal(before);
  });

  it('are left alone while another process builds indexes', async () => {
    await withTurn(database.db, advisoryLocks.indexBuild, async () => {
      expect(await packDays(database.db, over)).to.deep.equal([]);
    });
  });
});
