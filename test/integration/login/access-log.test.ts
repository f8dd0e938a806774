import { hash } from 'node:crypto';
import { expect } from 'chai';
import { sql } from 'kysely';
import { AccessLog, type Access } from '../../../internal/login/access-log.ts';
import { loginMetrics } from '../../../internal/login/login-metrics.ts';
import { createRegistry } from '../../../internal/kit/telemetry/metrics.ts';
import { readToken } from '../../support/console.ts';
import { failureOf } from '../../support/failure.ts';
import { suiteLogin } from '../../support/login.ts';
import { declareChannel } from '../../support/notify/expectations.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { query } from '../../support/postgres-server.ts';
import { eachDatabase, type TestDatabase } from '../../support/store.ts';
import { until } from '../../support/until.ts';

const entriesOf = ({ db }: Pick<TestDatabase, 'db'>) =>
  db
    .selectFrom('access_log')
    .select(['subject', 'name', 'organization', 'action', 'address', 'requests'])
    .orderBy('id')
    .execute();
const nameOf = (organization: string): string => hash('sha256', readToken(organization)).slice(0, 12);

describe('the access log of a console', () => {
  const suite = suiteLogin();
  const headers = { token: readToken('acme') };

  it('says who looked at or exported which organization, on pages and over the API', async () => {
    const browser = await suite.reader('globex');
    await browser.get('/o/globex/executions');
    await browser.get('/o/globex/executions');
    await browser.get('/o/acme/executions');
    for (const path of ['/v1/executions/', '/v1/events/', '/v1/export/events/', '/v1/export/events/?format=csv']) {
      expect((await suite.console.client.send({ path, headers })).status).to.equal(200);
    }
    // Nobody saw anything of these.
    for (const path of ['/v1/executions/?odd=1', '/v1/nothing', '/v1/ping/']) {
      await suite.console.client.send({ path, headers: { token: readToken('initech') } });
    }
    await suite.console.client.send({ path: '/v1/executions/', headers: { token: 'wrong' } });
    const entry = (organization: string, action: string) => {
      const id = nameOf(organization);
      return {
        subject: `token:${id}`,
        name: `read token ${id}`,
        organization,
        action,
        address: '127.0.0.1',
        requests: 1,
      };
    };
    const expected = [
      entry('globex', 'looked'),
      entry('acme', 'looked'),
      entry('acme', 'exported'),
      entry('acme', 'exported'),
    ];
    // An entry is counted after it is in the table.
    const written = /runledger_access_log_entries_total\{result="written",process="console"\} 4\n/;
    await until('the entries', async () => written.test(await suite.console.telemetry.registry.metrics()));
    expect(await entriesOf(suite.database)).to.deep.equal(expected);
  });

  it('has refused logins, logouts and tests of channels, each with the address of the caller', async () => {
    await declareChannel(suite.database.db, { url: 'https://incidents.example/' });
    const seen = { 'x-forwarded-for': '10.0.0.1, 192.0.2.7' };
    const browser = suite.browser();
    for (let attempt = 0; attempt < 3; attempt += 1) await browser.post('/login', { token: 'wrong' }, seen);
    await browser.post('/login', { token: 'write-token-of-acme' }, { 'x-forwarded-for': '2001:db8:1:2:3::4' });
    await browser.post('/login', { token: readToken() }, seen);
    await browser.post('/o/acme/channels/acme-automations/incidents/test', {}, seen);
    await browser.post('/logout', {}, seen);
    await (await suite.reader()).post('/logout-everywhere', {}, seen);
    await suite.console.stop();
    const id = nameOf('acme');
    const own = { subject: `token:${id}`, name: `read token ${id}`, address: '192.0.2.7', requests: 1 };
    const refused = { subject: 'unknown', name: '', organization: '', action: 'refused', requests: 1 };
    expect(await entriesOf(suite.database)).to.deep.equal([
      { ...refused, address: '192.0.2.7' },
      { ...refused, address: '2001:0db8:0001:0002::/64' },
      { ...own, organization: 'acme', action: 'tested' },
      { ...own, organization: '', action: 'logged out' },
      { ...own, organization: '', action: 'logged out' },
      { ...refused, address: '192.0.2.7', requests: 2 },
    ]);
  });
});

describe('the access log', () => {
  const database = eachDatabase();
  let now = Date.parse('2026-11-20T12:00:00Z');
  const look: Access = {
    subject: 'i#alice',
    name: 'Alice',
    organization: 'acme',
    action: 'looked',
    address: '192.0.2.7',
  };

  function open() {
    const registry = createRegistry('test');
    const { logger, records } = recordingLogger();
    const log = new AccessLog({ db: database.db, metrics: loginMetrics(registry), logger, now: () => now });
    const counted = async (result: string): Promise<number> =>
      Number(new RegExp(`entries_total\\{result="${result}",.*\\} (\\d+)`).exec(await registry.metrics())?.[1]);
    return { log, records, counted };
  }

  it('notes a look of the same person at the same organization once in ten minutes, and each export', async () => {
    const { log, records } = open();
    for (let index = 0; index < 100; index += 1) log.note(look);
    log.note({ ...look, organization: 'globex' });
    log.note({ ...look, subject: 'i#bob', name: 'Bob' });
    for (let index = 0; index < 2; index += 1) log.note({ ...look, action: 'exported' });
    now += 10 * 60_000;
    log.note(look);
    await log.stop();
    const entries = await entriesOf(database);
    expect(entries).to.have.length(7);
    // The first look, and those of the ten minutes after it.
    const own = entries.filter(
      ({ subject, organization, action }) => action === 'looked' && subject === look.subject && organization === 'acme',
    );
    expect(own.map(({ requests }) => requests)).to.deep.equal([1, 99, 1]);
    expect(entries.filter(({ action }) => action === 'exported')).to.have.length(2);
    expect(records.map(({ message, fields }) => [message, fields])).to.deep.equal(
      entries.map((entry) => ['record accessed', { audit: true, ...entry, detail: '' }]),
    );
  });

  it('only grows: a console with its own user cannot change or delete it, and reads one organization', async () => {
    const { log } = open();
    log.note(look);
    await log.stop();
    const asReader = `${database.url}?options=${encodeURIComponent('-c role=runledger_reader')}`;
    const insert = `insert into access_log (organization, at, subject, name, action) values ('acme', now(), 's', 'n', 'looked')`;
    await query(asReader, insert);
    for (const statement of [
      `update access_log set name = 'somebody else'`,
      'delete from access_log',
      'truncate access_log',
    ]) {
      expect(await failureOf(query(asReader, statement)), statement).to.match(/permission denied/);
    }
    expect(await entriesOf(database)).to.have.length(2);
    const read = `select set_config('runledger.organization', $1, false), (select count(*)::int from access_log) as entries`;
    expect(await query(asReader, read, ['acme'])).to.containSubset([{ entries: 2 }]);
    expect(await query(asReader, read, ['globex'])).to.containSubset([{ entries: 0 }]);
  });

  it('only grows for the owner of the tables too', async () => {
    await query(
      database.url,
      `insert into access_log (organization, at, subject, name, action) values ('acme', now(), 's', 'n', 'looked')`,
    );
    for (const statement of [`update access_log set name = 'x'`, 'delete from access_log', 'truncate access_log']) {
      expect(await failureOf(query(database.url, statement)), statement).to.match(/the table access_log only grows/);
    }
    expect(await entriesOf(database)).to.have.length(1);
  });

  it('keeps entries while the table cannot be written, and says so', async () => {
    const { log, records, counted } = open();
    await sql`alter table access_log rename to away`.execute(database.db);
    log.note(look);
    await log.start();
    await until('a failure', () => log.problem !== undefined);
    expect(records.map(({ level, message }) => `${level} ${message}`)).to.deep.equal([
      'info record accessed',
      'error access log cannot be written, entries wait',
    ]);
    await sql`alter table away rename to access_log`.execute(database.db);
    await until('the entry', async () => (await counted('written')) === 1);
    expect(log.problem).to.equal(undefined);
    await log.stop();
    expect(await entriesOf(database)).to.have.length(1);
    expect(await counted('lost')).to.equal(0);
  });

  it('counts entries that a stop leaves out of the table', async () => {
    const { log, records, counted } = open();
    await sql`drop table access_log`.execute(database.db);
    log.note(look);
    await log.stop();
    expect(await counted('lost')).to.equal(1);
    expect(records.at(-1)).to.deep.include({ level: 'error', message: 'entries are missing in the table access_log' });
  });

  it('writes the others when Postgres refuses an entry', async () => {
    const { log, counted } = open();
    await log.start();
    log.note({ ...look, organization: 'b\0' });
    log.note(look);
    log.note({ ...look, organization: 'a\0' });
    await until('both refusals', async () => (await counted('lost')) === 2);
    await log.stop();
    expect(await counted('lost')).to.equal(2);
    expect(await entriesOf(database)).to.deep.equal([{ ...look, requests: 1 }]);
  });
});
