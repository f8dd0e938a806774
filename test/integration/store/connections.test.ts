import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { sql } from 'kysely';
import { isDataError } from '../../../internal/store/errors.ts';
import { failureOf } from '../../support/failure.ts';
import { query } from '../../support/postgres-server.ts';
import { emptyDatabase } from '../../support/servers.ts';
import { migratedDatabase, openDatabase } from '../../support/store.ts';
import { Forwarder } from '../../support/forwarder.ts';
import { until } from '../../support/until.ts';

describe('connections to Postgres', () => {
  it('are thrown away when the server said nothing in time, and replaced', async () => {
    await using database = await migratedDatabase();
    await using network = await Forwarder.start(Number(new URL(database.url).port));
    const through = new URL(database.url);
    through.port = String(network.port);
    // Statement time-out 2 s; the client gives up 5 s later.
    await using db = openDatabase(through.href, 2_000);
    await sql`select 1`.execute(db);
    network.stall();
    const error = await failureOf(sql`select 1`.execute(db));
    expect(String(error)).to.contain('Query read timeout');
    expect(isDataError(error)).to.equal(false);
    network.halfOpen();
    network.heal();
    const { rows } = await sql<{ two: number }>`select 2 as two`.execute(db);
    expect(rows).to.deep.equal([{ two: 2 }]);
    expect(network.accepted).to.equal(2);
  });

  it('close at once, also with a statement under way', async () => {
    await using database = await migratedDatabase();
    const db = openDatabase(database.url);
    const asleep = failureOf(sql`select pg_sleep(600)`.execute(db));
    const sleeps = `select from pg_stat_activity where datname = current_database() and query like '%sleep(600)'`;
    await until('it sleeps', async () => (await query(database.url, sleeps)).length === 1);
    await db.destroy();
    expect(await asleep).to.be.instanceOf(Error);
  });

  it('that were still being opened run no statement after the end', async () => {
    await using database = await migratedDatabase();
    const db = openDatabase(database.url);
    const asleep = failureOf(sql`select pg_sleep(600)`.execute(db));
    // Begins to connect, which takes several turns.
    await turn();
    await db.destroy();
    expect(String(await asleep)).to.equal('Error: the connections to Postgres are closed');
  });

  it('know what is prepared after a statement of a round trip has failed', async () => {
    await using database = await migratedDatabase();
    await using db = openDatabase(database.url);
    const trip = (divisor: number) => {
      const after = ['select $1::integer + 1', 'select 1 / $1::integer', 'select $1::integer + 2'];
      const followed = db.followedBy?.(after.map((text) => ({ text, values: [divisor] }))) ?? db;
      return sql`select ${divisor}::integer`.execute(followed);
    };
    expect(await failureOf(trip(0))).to.include({ code: '22012' });
    await trip(1);
    await trip(2);
    const { rows } = await sql`select from pg_prepared_statements where name like 'runledger%'`.execute(db);
    expect(rows).to.have.lengthOf(4);
  });

  it('prepare a statement once, and stop preparing behind a pooler that forgets statements', async () => {
    await using database = await migratedDatabase();
    const db = openDatabase(database.url);
    const prepared = (): Promise<number> =>
      sql<{ n: number }>`select count(*)::integer as n from pg_prepared_statements where name like 'runledger%'`
        .execute(db)
        .then(({ rows }) => rows[0]?.n ?? 0);
    const plusOne = (number: number): Promise<number> =>
      sql<{ sum: number }>`select ${number}::integer + 1 as sum`.execute(db).then(({ rows }) => rows[0]?.sum ?? 0);
    try {
      expect([await plusOne(1), await plusOne(2), await prepared()]).to.deep.equal([2, 3, 1]);
      await sql`deallocate all`.execute(db);
      expect([await plusOne(3), await plusOne(4), await prepared()]).to.deep.equal([4, 5, 0]);
    } finally {
      await db.destroy();
    }
  });

  it('to a server that has become read-only are not used again', async () => {
    await using database = await migratedDatabase();
    const { db, url } = database;
    const backend = async (): Promise<number> =>
      (await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)).rows[0]?.pid ?? 0;
    const before = await backend();
    expect(await backend()).to.equal(before);
    const name = new URL(url).pathname.slice(1);
    await query(url, `alter database ${name} set default_transaction_read_only = on`);
    await sql`set default_transaction_read_only = on`.execute(db);
    const error = await failureOf(db.deleteFrom('dead_letters').execute());
    expect(error).to.include({ code: '25006' });
    expect(isDataError(error)).to.equal(false);
    expect(await backend()).to.not.equal(before);
  });
});

describe('a Postgres that may lose commits', () => {
  it('is made to wait for its disk by each connection, unless it is set to wait for more', async () => {
    const url = await emptyDatabase();
    const settings: unknown[] = [];
    for (const configured of ['off', 'on', 'remote_apply']) {
      await query(url, `alter database ${new URL(url).pathname.slice(1)} set synchronous_commit = ${configured}`);
      const db = openDatabase(url);
      const { rows } = await sql`select current_setting('synchronous_commit') as now`.execute(db);
      await db.destroy();
      settings.push(...rows);
    }
    expect(settings).to.deep.equal([{ now: 'on' }, { now: 'on' }, { now: 'remote_apply' }]);
  });

  it('is reported once, when its fsync is off', async () => {
    const told: string[][] = [];
    // The servers of the tests run without fsync, for speed.
    const db = openDatabase(await emptyDatabase(), 10_000, (missing) => told.push(missing));
    await Promise.all([sql`select 1`.execute(db), sql`select 2`.execute(db)]);
    await db.destroy();
    expect(told).to.deep.equal([['fsync is off, must be on']]);
  });
});
