import { expect } from 'chai';
import type { Database } from '../../../internal/store/database.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { anEvent } from '../../support/events.ts';
import { query } from '../../support/postgres-server.ts';
import { eachDatabase, openDatabase, wrongRunning } from '../../support/store.ts';
import { until } from '../../support/until.ts';

const runningIds = async (db: Database): Promise<string[]> =>
  (await db.selectFrom('running_executions').select('execution_id').orderBy('execution_id').execute()).map(
    (row) => row.execution_id,
  );

describe('running executions', () => {
  const database = eachDatabase();

  it('end with the END that waited for the START of another worker, and the other way round', async () => {
    const { db, url } = database;
    for (const kinds of [['START', 'END'] as const, ['END', 'START'] as const]) {
      const [first, second] = kinds.map((kind) => anEvent({ kind, executionId: kinds.join(' ') }));
      if (first === undefined || second === undefined) throw new Error('two events');
      let waiting: Promise<unknown> = Promise.resolve();
      await db.transaction().execute(async (trx) => {
        await recordEvents(trx, [first]);
        waiting = recordEvents(db, [second]);
        await until('the other worker waits', async () => {
          const waits = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
          return (await query(url, waits)).length > 0 ? true : undefined;
        });
      });
      await waiting;
      expect(await runningIds(db), kinds.join(' before ')).to.deep.equal([]);
    }
  });

  it('take the time of an earlier event that is stored later', async () => {
    const { db } = database;
    for (const createdAt of [2_000, 1_000, 3_000]) await recordEvents(db, [anEvent({ createdAt })]);
    const times = await db.selectFrom('running_executions').select('first_event_at').execute();
    expect(times).to.deep.equal([{ first_event_at: new Date(1_000) }]);
  });

  it('may be left over from executions that somebody emptied: the same ones are recorded again', async () => {
    const { db, url } = database;
    await recordEvents(db, [anEvent({ createdAt: 2_000 })]);
    await query(url, 'truncate executions, events');
    await recordEvents(db, [anEvent({ createdAt: 3_000 })]);
    expect(await wrongRunning(db)).to.deep.equal([]);
  });

  it('are found by key, however many there are and whatever the first batch of a session held', async () => {
    const { url } = database;
    const runs = Array.from({ length: 2_000 }, (_, number) => `run ${number}`);
    {
      // Postgres counts the scans of a session at its end, or ten seconds later.
      await using db = openDatabase(url);
      for (const executions of [[anEvent().executionId], runs]) {
        for (const kind of ['START', 'END'] as const) {
          await recordEvents(
            db,
            executions.map((executionId) => anEvent({ kind, executionId })),
          );
        }
      }
    }
    const scans = await until('Postgres has counted the scans', async () => {
      const [row] = await query(
        url,
        `select seq_tup_read::integer as in_order, idx_scan::integer as by_key from pg_stat_user_tables
         where relname = 'running_executions'`,
      );
      return Number(row?.['by_key']) > runs.length ? row : undefined;
    });
    expect(scans['in_order']).to.equal(0);
  });
});
