import { expect } from 'chai';
import { sql } from 'kysely';
import { readAs } from '../../../internal/record/read-as.ts';
import { createQueries } from '../../../internal/record/queries.ts';
import { usesReaderRole } from '../../../internal/record/role-of-queries.ts';
import type { Database } from '../../../internal/store/database.ts';
import { codeOf } from '../../../internal/store/errors.ts';
import { migrateToLatest } from '../../../internal/store/migrate.ts';
import { createStore, type Store } from '../../../internal/store/store.ts';
import { Child } from '../../support/child.ts';
import { anEvent } from '../../support/events.ts';
import { failureOf } from '../../support/failure.ts';
import { day } from '../../support/maintenance-day.ts';
import { PostgresServer, query } from '../../support/postgres-server.ts';
import { openDatabase } from '../../support/store.ts';

/** SQLSTATEs: no right, a write in a read-only transaction, and a NUL in a literal. */
const [noRight, readOnly, noText] = ['42501', '25006', '42601'];

/** Organizations that try to end the literal, the call or the statement that they are in. */
const hostile = [
  `acme', true), set_config('role', 'app`,
  `acme\\', true), set_config('role', 'app', true) --`,
  `'; reset role; set runledger.organization = 'acme`,
  `\\'; commit; select set_config('runledger.organization', 'acme', false) --`,
  `$1`,
  `"acme"`,
  `acme'`,
  `Straße 🏢 \n`,
  ``,
];

/** A server of its own: roles belong to the whole server. */
describe('row-level security', () => {
  let server: PostgresServer;
  let url: string;
  let databases: Database[];
  beforeEach(async () => {
    server = await PostgresServer.start();
    databases = [];
  });
  afterEach(async () => {
    await Promise.all(databases.map((db) => db.destroy()));
    await server.stop();
  });

  /** A database that belongs to a user with these rights, as this user. */
  const databaseOf = async (rights: string): Promise<Database> => {
    await server.query(`create role app login ${rights}`);
    await server.query('create database app owner app');
    const address = new URL(server.url('app'));
    address.username = 'app';
    url = address.href;
    const db = openDatabase(url);
    databases.push(db);
    return db;
  };
  /** The address of the database as the reader role. */
  const asReader = (): string => `${url}?options=${encodeURIComponent('-c role=runledger_reader')}`;
  const storeOf = (db: Database): Store =>
    createStore(db, { partitionsAhead: 1, retentionDays: 3, overdueAfterHours: 24 });
  const storeTwo = (db: Database): Promise<unknown> =>
    storeOf(db).recordEvents([anEvent(), anEvent({ organization: 'globex', kind: 'ERROR' })]);
  const seen = async (db: Database, organization: string): Promise<unknown[]> =>
    readAs(db, organization, async (trx) => {
      const events = await sql`select organization from events`.execute(trx);
      const executions = await sql`select organization from executions`.execute(trx);
      return [...events.rows, ...executions.rows];
    });

  it('shows one organization to a query that forgets its filter, and nothing without an organization', async () => {
    const db = await databaseOf('createrole');
    await migrateToLatest(db, { onNoReaderRole: () => expect.fail('the role is missing') });
    await storeTwo(db);
    expect(await usesReaderRole(db)).to.equal(true);
    const acme = { organization: 'acme' };
    expect(await seen(db, 'acme')).to.deep.equal([acme, acme]);
    expect(await seen(db, 'nobody')).to.deep.equal([]);
    expect(await query(asReader(), 'select * from events')).to.deep.equal([]);

    const setting = sql`select current_user as role, current_setting('runledger.organization') as organization`;
    for (const organization of hostile) {
      const { rows } = await readAs(db, organization, (reading) => setting.execute(reading));
      expect(rows).to.deep.equal([{ role: 'runledger_reader', organization }]);
      expect(await seen(db, organization), organization).to.deep.equal([]);
    }
    expect(codeOf(await failureOf(seen(db, 'acme\0')))).to.equal(noText);
    expect((await sql`select current_user as role`.execute(db)).rows).to.deep.equal([{ role: 'app' }]);
  });

  it('lets the reader role write nothing, and read nothing but events and executions', async () => {
    const db = await databaseOf('createrole');
    await migrateToLatest(db);
    await storeTwo(db);
    const codeOfReader = async (statement: string): Promise<string | undefined> =>
      codeOf(await failureOf(query(asReader(), statement)));
    const refused = [
      `insert into events select * from events`,
      `update executions set error_count = 0`,
      `delete from events`,
      `truncate executions`,
      `select * from dead_letters`,
      `select * from events_default`,
      `select * from executions_0`,
      `select * from kysely_migration`,
      `create table mine (id integer)`,
    ];
    for (const statement of refused) expect(await codeOfReader(statement), statement).to.equal(noRight);
    const inTransaction = readAs(db, 'acme', (trx) => sql`create temporary table mine (id integer)`.execute(trx));
    expect(codeOf(await failureOf(inTransaction))).to.equal(readOnly);
    expect(await codeOfReader('select from events')).to.equal(undefined);
  });

  it('changes nothing for the worker: recording, dead letters, maintenance and retention', async () => {
    const db = await databaseOf('createrole');
    await migrateToLatest(db);
    const store = storeOf(db);
    const now = Date.now();
    await store.recordEvents([anEvent({ createdAt: now }), anEvent({ organization: 'globex', createdAt: now })]);
    await store.recordEvents([anEvent({ executionId: 'old', createdAt: now - 9 * day })]);
    await store.keepDeadLetter(anEvent(), 'why');
    const { dropped, moved } = await store.maintain();
    expect(dropped).to.have.length(1);
    expect(moved).to.equal(3);
    expect(await store.measure()).to.include({ running: 2, defaultRows: 0 });
    expect(await query(url, 'select organization from events order by 1')).to.have.length(2);
  });

  it('without CREATEROLE the migration works and says so; a later one completes the role', async () => {
    const db = await databaseOf('');
    const env = { PATH: process.env['PATH'], DATABASE_URL: url };
    const migrate = async (): Promise<string> => {
      const child = new Child(process.execPath, ['cmd/admin/main.ts', 'migrate'], { env });
      expect(await child.exited, child.output.join('\n')).to.equal(0);
      return child.output.join('\n');
    };
    expect(await migrate()).to.contain('no role for readers');
    await storeTwo(db);
    const record = createQueries(db);
    expect(await usesReaderRole(db)).to.equal(false);
    expect((await record.listExecutions('acme', {}, { limit: 5 })).items).to.have.length(1);

    await server.query('create role runledger_reader nologin');
    await server.query('grant runledger_reader to app');
    // Until the migration gives the role its rights, queries do not take it.
    expect(await usesReaderRole(db)).to.equal(false);
    expect(await seen(db, 'globex')).to.have.length(4);
    expect(await migrate()).not.to.contain('no role for readers');
    expect(await usesReaderRole(db)).to.equal(true);
    expect(await seen(db, 'globex')).to.have.length(2);
    expect((await record.listExecutions('acme', {}, { limit: 5 })).items).to.have.length(1);

    // Without its rights, and without the role, queries only filter again, from the next one on.
    await query(url, 'revoke select on events from runledger_reader');
    expect(await seen(db, 'globex')).to.have.length(4);
    await migrate();
    expect(await usesReaderRole(db)).to.equal(true);
    await query(new URL('app', server.url()).href, 'drop owned by runledger_reader; drop role runledger_reader');
    expect(await seen(db, 'globex')).to.have.length(4);
    expect(await usesReaderRole(db)).to.equal(false);
  }).timeout(60_000);

  it('works for a user of the console alone, who has no other right', async () => {
    const db = await databaseOf('createrole');
    await migrateToLatest(db);
    await storeTwo(db);
    await server.query('create role console login in role runledger_reader');
    const address = new URL(url);
    address.username = 'console';
    const console = openDatabase(address.href);
    databases.push(console);
    expect(await usesReaderRole(console)).to.equal(true);
    expect(await seen(console, 'globex')).to.have.length(2);
    expect(await query(address.href, 'select * from events')).to.deep.equal([]);
  });
});
