import { mock } from 'node:test';
import { expect } from 'chai';
import { sql } from 'kysely';
import { Client } from 'pg';
import { consoleDatabaseSettings, openConsoleDatabase } from '../../../cmd/console/database.ts';
import { readConfig } from '../../../internal/config/read.ts';
import { readAs } from '../../../internal/record/read-as.ts';
import { createQueries } from '../../../internal/record/queries.ts';
import { usesReaderRole } from '../../../internal/record/role-of-queries.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { createTelemetry } from '../../../internal/kit/telemetry/telemetry.ts';
import { startConsole } from '../../support/console.ts';
import { anEvent } from '../../support/events.ts';
import { failureOf } from '../../support/failure.ts';
import { PostgresServer } from '../../support/postgres-server.ts';
import { lockRecord, queriesWaiting, suiteConsole } from '../../support/reading.ts';
import { migrate, migratedDatabase, openDatabase } from '../../support/store.ts';
import { StreamReader } from '../../support/stream-reader.ts';
import { until } from '../../support/until.ts';

describe('the read API and a short limit of a query', () => {
  const suite = suiteConsole({ READ_STATEMENT_TIMEOUT_MS: '1000' });

  it('answers 503 with Retry-After when a query takes too long', async () => {
    const release = await lockRecord(suite.database);
    const answer = await suite.client.send({ path: '/v1/executions/' });
    await release();

    expect(answer.status).to.equal(503);
    expect(answer.headers['retry-after']).to.equal('1');
    expect(answer.json()).to.include({ type: 'https://runledger.dev/problems/unavailable', status: 503 });
    expect(answer.json()['detail']).to.match(/took too long/);
    const metrics = await suite.console.telemetry.registry.metrics();
    expect(metrics).to.match(/runledger_console_rejections_total\{reason="timeout",process="console"\} 1\n/);
    await until('an answer', async () => (await suite.client.send({ path: '/v1/executions/' })).status === 200);
  });
});

describe('the read API and its database', () => {
  const suite = suiteConsole();

  it('keeps streams open while queries fail, and sends afterwards what was stored', async () => {
    using reader = await StreamReader.open(suite.console.port);
    const release = await lockRecord(suite.database);
    await queriesWaiting(suite.database, 1);
    await until('a failure', async () =>
      (await suite.client.send({ path: '/v1/events/' })).status === 503 ? true : undefined,
    );
    await release();
    await suite.store({ description: 'after', createdAt: Date.now() });
    await reader.until('the event', () => reader.descriptions.includes('after'));
    expect(reader.ended).to.equal(false);
  });

  it('shows no lag for a primary', async () => {
    await until('a look', () => (Object.keys(suite.console.unready()).length === 0 ? true : undefined));
    const answer = await suite.client.send({ path: '/v1/executions/' });
    expect(answer.headers['runledger-replica-lag-ms']).to.equal(undefined);
  });
});

describe('the database of the console behind a pooler', () => {
  const opened = async (url: string) => {
    const config = readConfig(consoleDatabaseSettings, { CONSOLE_DATABASE_CONNECTIONS: '2' });
    const { db } = openConsoleDatabase(url, config, createTelemetry('console', 'silent').logger);
    // As another client leaves the session.
    await sql`select set_config('statement_timeout', '0', false), set_config('TimeZone', 'Europe/Berlin', false),
      set_config('DateStyle', 'SQL, DMY', false)`.execute(db);
    return db;
  };

  it('prepares no statement', async () => {
    await using database = await migratedDatabase();
    await using db = await opened(database.url);
    await createQueries(db).listExecutions('acme', { state: 'failed' }, { limit: 1 });
    const { rows } = await sql`select name from pg_prepared_statements`.execute(db);
    expect(rows).to.deep.equal([]);
  });

  it('reads a page in one round trip', async () => {
    await using database = await migratedDatabase();
    await using db = await opened(database.url);
    await recordEvents(database.db, [anEvent({ createdAt: Date.now() }), anEvent({ createdAt: Date.now() })]);
    const record = createQueries(db);
    await usesReaderRole(db);
    const sent = mock.method(Client.prototype, 'query');
    try {
      expect((await record.listExecutions('acme', {}, { limit: 1 })).items).to.have.lengthOf(1);
      expect(sent.mock.callCount()).to.equal(1);
      expect((await record.listEvents('acme', {}, { limit: 1 })).items).to.have.lengthOf(1);
      expect(sent.mock.callCount()).to.equal(2);
    } finally {
      sent.mock.restore();
    }
  });

  it('makes no reader wait for a new look at its role', async () => {
    await using database = await migratedDatabase();
    await using db = await opened(database.url);
    const record = createQueries(db);
    await usesReaderRole(db);
    const now = performance.now.bind(performance);
    mock.method(performance, 'now', () => now() + 60_000);
    const sent = mock.method(Client.prototype, 'query');
    try {
      await record.listExecutions('acme', {}, { limit: 1 });
      await until('a look follows', () => sent.mock.callCount() === 2);
    } finally {
      mock.restoreAll();
    }
    const texts = sent.mock.calls.map((call) => JSON.stringify(call.arguments));
    expect(texts[0]).to.contain('from executions');
    expect(texts[1]).to.contain('pg_has_role');
  });

  it('runs no query whose settings fail', async () => {
    await using database = await migratedDatabase();
    await using db = await opened(database.url);
    const failing = db.inTransactions?.(['select 1 / 0']);
    const created = failing && sql`create table made (id integer)`.execute(failing);
    expect(await failureOf(Promise.resolve(created))).to.include({ code: '22012' });
    expect((await sql`select to_regclass('made') as made`.execute(db)).rows).to.deep.equal([{ made: null }]);
  });

  it('sets its time-out in each transaction', async () => {
    await using database = await migratedDatabase();
    await using db = await opened(database.url);
    const settings = sql`select current_setting('statement_timeout') as timeout, current_setting('TimeZone') as zone`;
    const { rows } = await readAs(db, 'acme', (trx) => settings.execute(trx));
    expect(rows).to.deep.equal([{ timeout: '5s', zone: 'UTC' }]);
    expect((await settings.execute(db)).rows).to.deep.equal([{ timeout: '0', zone: 'Europe/Berlin' }]);
  });

  it('counts days in UTC, also when the clocks of its time zone change', async () => {
    await using database = await migratedDatabase();
    await using db = await opened(database.url);
    const days = ['2026-10-24', '2026-10-25', '2026-10-26', '2026-10-27'];
    const events = days.map((day) => anEvent({ executionId: day, createdAt: Date.parse(`${day}T23:30:00Z`) }));
    await recordEvents(database.db, events);
    const window = { from: new Date('2026-10-24'), to: new Date('2026-10-28'), step: 'day' } as const;
    const automation = await createQueries(db).getAutomation('acme', anEvent().automationId, window);
    expect(automation?.series.map(({ at }) => at)).to.deep.equal(days.map((day) => `${day}T00:00:00.000Z`));
  });
});

describe('the read API while Postgres is unavailable', () => {
  it('is not ready before it has seen Postgres, and answers 503', async () => {
    await using console = await startConsole('postgres://x@127.0.0.1:1/x');
    const answer = await console.client.send({ path: '/v1/executions/' });
    expect(answer.status).to.equal(503);
    expect(answer.headers['retry-after']).to.equal('1');
    expect(answer.json()['detail']).to.equal('The record cannot be read now.');
    expect(console.unready()).to.have.property('postgres');
    expect((await console.client.send({ path: '/v1/ping/' })).status).to.equal(200);
  });

  it('stays ready when Postgres goes away, says so, and answers again when it is back', async () => {
    const server = await PostgresServer.start();
    try {
      const url = await server.createDatabase();
      await migrate(url);
      await using console = await startConsole(url);
      const status = async (): Promise<number> => (await console.client.send({ path: '/v1/events/' })).status;
      expect(await status()).to.equal(200);
      await until('a look', () => (console.unready()['postgres'] === undefined ? true : undefined));

      await server.kill();
      expect(await status()).to.equal(503);
      await until('a look', () => console.degraded()['postgres']);
      expect(console.unready()).to.deep.equal({});

      await server.startAgain();
      await until('200', async () => ((await status()) === 200 ? true : undefined));
      await until('a look', () => (console.degraded()['postgres'] === undefined ? true : undefined));
    } finally {
      await server.stop();
    }
  });
});

describe('the read API on a replica', () => {
  it('answers with what the replica has, says how far it is behind, and streams', async () => {
    const primary = await PostgresServer.start();
    const database = await primary.createDatabase();
    const [, name = ''] = /([^/]*)$/.exec(database) ?? [];
    await migrate(database);
    const replica = await primary.startReplica();
    const db = openDatabase(database);
    try {
      await using console = await startConsole(replica.url(name), { READ_STATEMENT_TIMEOUT_MS: '60000' });
      const list = () => console.client.send({ path: '/v1/events/' });
      const items = async (): Promise<unknown[]> => (await list()).json<{ items: unknown[] }>().items;
      const lag = async (): Promise<number> => Number((await list()).headers['runledger-replica-lag-ms'] ?? Number.NaN);
      using reader = await StreamReader.open(console.port);
      await recordEvents(db, [anEvent({ description: 'one' })]);
      await reader.until('the event', () => reader.descriptions.includes('one'));
      expect(await items()).to.have.lengthOf(1);

      await replica.query('select pg_wal_replay_pause()');
      await recordEvents(db, [anEvent({ description: 'two' })]);
      await until('a lag', async () => ((await lag()) > 0 ? true : undefined));
      expect(await items()).to.have.lengthOf(1);
      expect(await console.telemetry.registry.metrics()).to.match(/runledger_replica_lag_seconds\{.*\} [\d.]+\n/);

      await replica.query('select pg_wal_replay_resume()');
      await reader.until('the second event', () => reader.descriptions.includes('two'));
      await until('no lag', async () => ((await lag()) === 0 ? true : undefined));
      expect(reader.descriptions).to.deep.equal(['one', 'two']);

      // The replica replays an exclusive lock at once, and cancels the query in its way.
      const executions = () => console.client.send({ path: '/v1/executions/' });
      await replica.query('alter system set max_standby_streaming_delay = 0');
      await replica.query('select pg_reload_conf()');
      const asleep = 'policy asleep on executions';
      await primary.query(`create ${asleep} as restrictive to runledger_reader using (pg_sleep(60) is not null)`, name);
      const policies = `select from pg_policy where polname = 'asleep'`;
      await until('the policy', async () => (await replica.query(policies, name)).length > 0);
      const cancelled = executions();
      const sleeping = `select from pg_stat_activity where wait_event = 'PgSleep'`;
      await until('the query', async () => (await replica.query(sleeping)).length > 0);
      await primary.query('begin; lock executions; commit', name);
      const answer = await cancelled;
      expect([answer.status, answer.headers['retry-after']]).to.deep.equal([503, '1']);
      expect(answer.json()['detail']).to.equal('The record cannot be read now.');
      await primary.query(`drop ${asleep}`, name);
      await until('an answer', async () => (await executions()).status === 200);

      await primary.kill();
      await until('a lag', async () => ((await lag()) > 0 ? true : undefined));
      await primary.startAgain();
      await until('no lag', async () => ((await lag()) === 0 ? true : undefined));
    } finally {
      await db.destroy();
      await replica.stop();
      await primary.stop();
    }
  });
});
