import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { sql } from 'kysely';
import { controllerDatabase } from '../../cmd/controller/databases.ts';
import { openDatabase as openDatabaseFor } from '../../internal/wiring/databases.ts';
import { readAs } from '../../internal/record/read-as.ts';
import { migrateToLatest } from '../../internal/store/migrate.ts';
import { recordEvents } from '../../internal/store/record-events.ts';
import { createLogger } from '../../internal/kit/telemetry/logger.ts';
import { startConsole } from '../support/console.ts';
import { anEvent } from '../support/events.ts';
import { declare, tickAt } from '../support/expectations.ts';
import { failureOf } from '../support/failure.ts';
import { PgBouncer } from '../support/pgbouncer.ts';
import { startIngest, startWorker } from '../support/pipeline.ts';
import { query } from '../support/postgres-server.ts';
import { emptyDatabase, emptyRedis } from '../support/servers.ts';
import { openDatabase } from '../support/store.ts';
import { until } from '../support/until.ts';

/** As another client of the pooler leaves each session. */
const left = ['set statement_timeout = 77777', 'set synchronous_commit = off'];

/** Notes for each statement that writes a table in which way its transaction commits. */
const noteWrites = `
  create table written (name text, commits text, timeout text);
  create function note() returns trigger language plpgsql as $$ begin
    insert into written
      values (tg_table_name, current_setting('synchronous_commit'), current_setting('statement_timeout'));
    return null;
  end $$;
  do $$ declare name text; begin
    foreach name in array array['events', 'executions', 'running_executions', 'dead_letters', 'automations', 'alerts', 'controller_state'] loop
      execute format('create trigger note after insert or update or delete on %I execute function note()', name);
    end loop;
  end $$`;

describe('behind PgBouncer in transaction mode', () => {
  let database: string;
  let pooler: PgBouncer;

  before(async () => {
    database = await emptyDatabase();
    for (const setting of ['synchronous_commit = off', `DateStyle = 'SQL, DMY'`]) {
      await query(database, `alter database ${new URL(database).pathname.slice(1)} set ${setting}`);
    }
    pooler = await PgBouncer.start(database);
    await pooler.inEachSession(...left);
  });
  after(() => pooler.stop());

  it('concurrent migrations run once, and leave no lock behind', async () => {
    const migrateOnce = async (): Promise<string[]> => {
      await using db = openDatabase(pooler.url, 0);
      return await migrateToLatest(db);
    };
    const ran = await Promise.all([migrateOnce(), migrateOnce(), migrateOnce()]);
    expect(ran.filter((names) => names.length > 0)).to.have.lengthOf(1);
    expect(await query(database, 'select from pg_index where not indisvalid')).to.deep.equal([]);
    const locks = `select from pg_locks join pg_database d on d.oid = database
      where locktype = 'advisory' and datname = current_database()`;
    expect(await query(database, locks)).to.deep.equal([]);
  });

  it('each write of worker and controller survives a crash, and has the time-out of its process', async () => {
    const redis = await emptyRedis();
    const settings = { REDIS_URL: redis.url, DATABASE_URL: pooler.url };
    await using worker = await startWorker(settings, { migrate: false });
    await using ingest = await startIngest(settings);
    expect(worker).to.not.equal(undefined);
    const run = { automation_id: randomUUID(), execution_id: 'run', event: 'START' };
    const report = async (stored: number): Promise<void> => {
      expect((await ingest.client.register(run)).status).to.equal(201);
      await until('the event', async () => (await query(database, 'select from events')).length === stored);
    };
    await report(1);
    await using controller = openDatabaseFor(pooler.url, controllerDatabase, createLogger('controller', 'silent'));
    await tickAt(controller, Date.now());

    // Their connections stay, and get sessions with other settings.
    await pooler.inEachSession(...left);
    await query(database, noteWrites);
    await report(2);
    await declare(controller, { automationId: run.automation_id, expect: { every: '1h' } });
    await tickAt(controller, Date.now());
    const { transitions } = await tickAt(controller, Date.now() + 7_200_000);
    expect(transitions).to.not.deep.equal([]);

    const written = await query(database, 'select distinct * from written order by name');
    const [whole, third] = [(name: string) => ({ name, timeout: '30s' }), (name: string) => ({ name, timeout: '10s' })];
    // A statement of a tick has a third of the time-out.
    const ofTick = ['alerts', 'automations', 'controller_state'].map(third);
    const others = ['automations', 'events', 'executions', 'running_executions'].map(whole);
    expect(written).to.have.deep.members([...ofTick, ...others].map((write) => ({ ...write, commits: 'on' })));
  });

  it('statements keep their results, errors and time-outs, and read days in the ISO date style', async () => {
    await using db = openDatabase(pooler.url, 2_000);
    const events = [anEvent(), anEvent({ executionId: 'second' })];
    expect((await recordEvents(db, events)).stored).to.equal(2);
    expect((await recordEvents(db, [...events, anEvent({ executionId: 'third' })])).stored).to.equal(1);
    expect(await failureOf(sql`select pg_sleep(60)`.execute(db))).to.include({ code: '57014' });
    expect(await failureOf(sql`select 1 / ${0}::integer`.execute(db))).to.include({ code: '22012' });
    const { rows } = await sql`select current_date::text ~ '^[0-9]{4}-' as iso, ${'value'}::text as given`.execute(db);
    expect(rows).to.deep.equal([{ iso: true, given: 'value' }]);
    const failed = db.transaction().execute(async (trx) => {
      await trx.deleteFrom('events').execute();
      await sql`select 1 / 0`.execute(trx);
    });
    expect(await failureOf(failed)).to.include({ code: '22012' });
    expect(await db.selectFrom('events').select('id').execute()).to.have.lengthOf(5);
  });

  it('the console reads', async () => {
    await using console = await startConsole(pooler.url);
    const answer = await console.client.send({ path: '/v1/executions/' });
    expect(answer.status).to.equal(200);
    expect(answer.json()['items']).to.have.lengthOf(4);
    await using db = openDatabase(pooler.url, 5_000);
    const settings = sql`select current_user as role, current_setting('statement_timeout') as timeout,
      current_setting('DateStyle') ~ '^ISO' as iso, current_setting('transaction_read_only') as read_only`;
    const { rows } = await readAs(db, 'acme', (reading) => settings.execute(reading));
    expect(rows).to.deep.equal([{ role: 'runledger_reader', timeout: '5s', iso: true, read_only: 'on' }]);
  });

  it('nothing is left in the sessions that others use', async () => {
    const kept = await pooler.inEachSession(
      `select current_setting('statement_timeout') as timeout, current_setting('DateStyle') as style,
        current_setting('synchronous_commit') as commits, current_setting('role') as role,
        (select count(*)::integer from pg_prepared_statements) as prepared`,
    );
    const session = { timeout: '77777ms', style: 'SQL, DMY', commits: 'off', role: 'none', prepared: 0 };
    expect(kept).to.deep.equal([session, session, session]);
  });
});
