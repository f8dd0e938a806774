import { expect } from 'chai';
import { consoleDatabaseUrl, loginDatabaseUrl } from '../../../cmd/console/database.ts';
import { Browser } from '../../support/browser.ts';
import { readToken, startConsole } from '../../support/console.ts';
import { isLoggedIn, suiteLogin } from '../../support/login.ts';
import { PostgresServer } from '../../support/postgres-server.ts';
import { migrate, migratedDatabase } from '../../support/store.ts';
import { query } from '../../support/postgres-server.ts';
import { until } from '../../support/until.ts';

const one = { CONSOLE_DATABASE_URL: 'postgres://replica/x' };
const other = { DATABASE_URL: 'postgres://primary/x' };

describe('the database of sessions', () => {
  it('is that of the console, or DATABASE_URL if both are set', () => {
    expect([consoleDatabaseUrl(one), loginDatabaseUrl(one)]).to.deep.equal(['postgres://replica/x', undefined]);
    expect([consoleDatabaseUrl(other), loginDatabaseUrl(other)]).to.deep.equal(['postgres://primary/x', undefined]);
    const both = { ...one, ...other };
    expect([consoleDatabaseUrl(both), loginDatabaseUrl(both)]).to.deep.equal([
      'postgres://replica/x',
      'postgres://primary/x',
    ]);
  });

  it('may be a primary beside the replica that the console reads; a replica alone takes no login, and says so', async () => {
    const primary = await PostgresServer.start();
    const database = await primary.createDatabase();
    await migrate(database);
    const replica = await primary.startReplica();
    const address = replica.url(new URL(database).pathname.slice(1));
    try {
      await using alone = await startConsole(address);
      await until('the problem', () => alone.degraded()['login']);
      expect(alone.degraded()['login']).to.match(/names a replica.*: set DATABASE_URL to its primary/);
      await until('readiness', () => Object.keys(alone.unready()).length === 0);
      const refused = await new Browser(alone.client).post('/login', { token: readToken() });
      expect(refused.status).to.equal(503);
      expect((await alone.client.send({ path: '/v1/executions/' })).status).to.equal(200);
      expect(await alone.telemetry.registry.metrics()).to.match(/runledger_login_database_writable\{.*\} 0/);

      await using both = await startConsole(address, {}, undefined, undefined, database);
      const answer = await new Browser(both.client).post('/login', { token: readToken() });
      expect(answer.status).to.equal(303);
      expect(await query(database, 'select from sessions')).to.have.length(1);
      await until('a look', async () =>
        /runledger_login_database_writable\{.*\} 1/.test(await both.telemetry.registry.metrics()),
      );
      await until('no problem', () => Object.keys(both.degraded()).length === 0);
    } finally {
      await replica.stop();
      await primary.stop();
    }
  });

  it('takes a user of the console alone, who is in runledger_reader', async () => {
    await using database = await migratedDatabase();
    const user = `console_${new URL(database.url).pathname.slice(1)}`;
    await query(database.url, `create role ${user} login in role runledger_reader`);
    const address = new URL(database.url);
    address.username = user;
    await using console = await startConsole(address.href);
    const browser = new Browser(console.client);
    expect((await browser.post('/login', { token: readToken() })).status).to.equal(303);
    await browser.post('/logout-everywhere');
    await console.client.send({ path: '/v1/executions/' });
    await until('both entries', async () => (await query(database.url, 'select from access_log')).length === 2);
    await until('no problem', () => Object.keys(console.degraded()).length === 0);
  });

  it('needs a user who may write it', async () => {
    await using database = await migratedDatabase();
    const user = `stranger_${new URL(database.url).pathname.slice(1)}`;
    await query(database.url, `create role ${user} login; grant select on events, executions to ${user}`);
    const address = new URL(database.url);
    address.username = user;
    await using console = await startConsole(address.href);
    await until('the problem', () => console.degraded()['login']);
    expect(console.degraded()['login']).to.match(/may not write sessions and access_log: run runledger-admin migrate, or grant/);
    expect((await new Browser(console.client).post('/login', { token: readToken() })).status).to.equal(503);
  });
});

describe('a console whose database is unavailable', () => {
  const suite = suiteLogin();

  it('shows an error page to people, and knows them again afterwards', async () => {
    const browser = await suite.reader();
    await query(suite.database.url, 'alter table sessions rename to away');
    const answer = await browser.get('/o/acme/executions', { accept: 'text/html' });
    expect(answer.status).to.equal(503);
    expect(answer.headers['content-type']).to.include('text/html');
    await query(suite.database.url, 'alter table away rename to sessions');
    expect(await isLoggedIn(browser)).to.equal(true);
  });
});
