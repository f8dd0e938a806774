import { expect } from 'chai';
import { sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import { buildIndexes } from '../../../internal/store/build-indexes.ts';
import type { Database } from '../../../internal/store/database.ts';
import { fillRunning } from '../../../internal/store/fill-running.ts';
import { migrateToLatest } from '../../../internal/store/migrate.ts';
import * as initial from '../../../internal/store/migrations/0001-initial.ts';
import * as read from '../../../internal/store/migrations/0002-read.ts';
import * as runningExecutions from '../../../internal/store/migrations/0003-running-executions.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { anEvent } from '../../support/events.ts';
import { recordAsFirstRelease } from '../../support/first-release.ts';
import { query } from '../../support/postgres-server.ts';
import { emptyDatabase } from '../../support/servers.ts';
import { eachDatabase, openDatabase, openSession, wrongRunning } from '../../support/store.ts';
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

/** A database of the first release, with executions that began before the upgrade. */
describe('an upgrade with running executions', () => {
  let db: Database;
  let url: string;
  beforeEach(async () => {
    url = await emptyDatabase();
    db = openDatabase(url, 60_000);
    await bring({ '0001-initial': initial });
  });
  afterEach(() => db.destroy());

  const bring = async (migrations: Record<string, typeof initial>): Promise<void> => {
    const provider = { getMigrations: () => Promise.resolve(migrations) };
    expect((await new Migrator({ db, provider }).migrateToLatest()).error).to.equal(undefined);
  };
  const start = async (count: number): Promise<void> => {
    for (let first = 0; first < count; first += 2_000) {
      const numbers = Array.from({ length: Math.min(2_000, count - first) }, (_, index) => first + index);
      await recordAsFirstRelease(
        db,
        numbers.map((number) => anEvent({ kind: 'START', executionId: `run ${number}` })),
      );
    }
  };

  it('adds them while workers of the release before begin and end executions', async () => {
    await start(6_000);
    const over = new AbortController();
    const migration = migrateToLatest(db).finally(() => over.abort());
    let ended = 0;
    for (; !over.signal.aborted; ended += 1) {
      const executionId = `run ${ended * 7}`;
      await recordAsFirstRelease(db, [anEvent({ kind: 'END', executionId }), anEvent({ executionId: `new ${ended}` })]);
      await recordAsFirstRelease(db, [
        anEvent({ kind: ended % 2 === 0 ? 'ERROR' : 'EVENT', executionId: `new ${ended}` }),
      ]);
    }
    expect(await migration).to.include('0003-running-executions');
    expect(ended).to.be.above(0);
    expect(await wrongRunning(db)).to.deep.equal([]);
    const [index] = await query(url, `select to_regclass('executions_running') as old`);
    expect(index?.['old']).to.equal(null);
  }).timeout(120_000);

  it('does not wait for a worker, and does not add what that worker ends', async () => {
    await start(3);
    await bring({ '0001-initial': initial, '0002-read': read, '0003-running-executions': runningExecutions });
    await using worker = await openSession(url);
    await worker.query('begin');
    await worker.query(`update executions set end_count = 1 where execution_id = 'run 1'`);
    const filled = fillRunning(db);
    await until('the others are added', async () => ((await runningIds(db)).length === 2 ? true : undefined));
    await worker.query('commit');
    await filled;
    expect(await runningIds(db)).to.deep.equal(['run 0', 'run 2']);
  });

  it('lets those read the table who may read executions', async () => {
    await query(url, 'grant select on executions to public');
    await migrateToLatest(db);
    const may = `select has_table_privilege('public', 'running_executions', 'select') as may`;
    expect(await query(url, may)).to.deep.equal([{ may: true }]);
  });

  it('continues where it was interrupted', async () => {
    await start(3);
    await bring({ '0001-initial': initial, '0002-read': read, '0003-running-executions': runningExecutions });
    await sql`insert into running_executions select organization, automation_id, execution_id, first_event_at
      from executions limit 1`.execute(db);
    await buildIndexes(db, { concurrently: true });
    expect(await runningIds(db)).to.deep.equal(['run 0', 'run 1', 'run 2']);
  });
});
