import { expect } from 'chai';
import { Browser } from '../../support/browser.ts';
import { readToken, startConsole } from '../../support/console.ts';
import { failureOf } from '../../support/failure.ts';
import { suiteLogin } from '../../support/login.ts';
import { declareChannel } from '../../support/notify/expectations.ts';
import { query } from '../../support/postgres-server.ts';

const path = '/o/acme/channels/acme-automations/incidents/test';

describe('the button that sends a test', () => {
  const suite = suiteLogin();

  beforeEach(async () => {
    for (const table of ['deliveries', 'channels'] as const) await suite.database.db.deleteFrom(table).execute();
  });

  const deliveries = () => suite.database.db.selectFrom('deliveries').selectAll().execute();

  it('puts one notification into the outbox, until it is sent', async () => {
    await declareChannel(suite.database.db, { url: 'https://incidents.example/' });
    const browser = await suite.reader();
    const answer = await browser.post(path);
    expect(answer.status).to.equal(303);
    expect(answer.headers.location).to.equal('https://console.example/o/acme/alerts?test=sent#channels-title');
    expect((await browser.post(path)).headers.location).to.match(/test=waiting#channels-title$/);
    const [row, ...others] = await deliveries();
    expect(others).to.deep.equal([]);
    expect(row).to.deep.include({ organization: 'acme', channel_name: 'incidents', attempts: 0 });
    expect(row?.event).to.deep.include({ type: 'dev.runledger.test', source: 'https://console.example/o/acme/' });
    await suite.database.db.updateTable('deliveries').set({ delivered_at: new Date() }).execute();
    expect((await browser.post(path)).headers.location).to.match(/test=sent#channels-title$/);
  });

  it('tests the Alertmanagers of the installation, if it has any', async () => {
    const own = path.replace('acme-automations/incidents', 'runledger.alertmanager/all');
    const state = suite.database.db.updateTable('controller_state');
    const browser = await suite.reader();
    expect((await browser.post(own)).headers.location).to.match(/test=gone#channels-title$/);
    await state.set({ alertmanagers: ['http://am-0:9093', 'http://am-1:9093'] }).execute();
    expect((await browser.get('/o/acme/alerts')).body)
      .to.include('http://am-0:9093, http://am-1:9093')
      .and.to.include('aria-label="Send a test to Alertmanager"');
    expect((await browser.post(own)).headers.location).to.match(/test=sent#channels-title$/);
    expect((await browser.post(own)).headers.location).to.match(/test=waiting#channels-title$/);
    await state.set({ alertmanagers: [] }).execute();
  });

  it('works with a user of the console alone, who is in runledger_reader and can write nothing else', async () => {
    const { url, db } = suite.database;
    await declareChannel(db, { url: 'https://incidents.example/' });
    const address = new URL(url);
    address.username = `console_${address.pathname.slice(1)}`;
    await query(url, `create role ${address.username} login in role runledger_reader`);
    await using console = await startConsole(address.href, {}, suite.tokens.source);
    const browser = new Browser(console.client);
    await browser.post('/login', { token: readToken() });
    expect((await browser.post(path)).headers.location).to.match(/test=sent#channels-title$/);
    expect((await browser.post(path)).headers.location).to.match(/test=waiting#channels-title$/);
    expect(await deliveries()).to.have.length(1);
    for (const [organization, automation] of [
      ['acme', '0190a0b0-0000-7000-8000-000000000001'],
      ['globex', '00000000-0000-0000-0000-000000000000'],
    ]) {
      const insert = `begin; select set_config('runledger.organization', 'acme', true);
        insert into deliveries (id, organization, automation_id, channel_namespace, channel_name, event)
        values (gen_random_uuid(), '${organization}', '${automation}', 'n', 'w', '{}')`;
      expect(await failureOf(query(address.href, insert))).to.match(/row-level security/);
    }
  });

  it('says which right of the user of the console is missing', async () => {
    const { url, db } = suite.database;
    await declareChannel(db, { url: 'https://incidents.example/' });
    const address = new URL(url);
    address.username = `poor_${address.pathname.slice(1)}`;
    const login = 'grant select, insert, update, delete on sessions to';
    await query(
      url,
      `create role ${address.username} login; ${login} ${address.username};
       grant select on events, executions, channels, deliveries, automations to ${address.username};
       grant insert on access_log to ${address.username}; grant select on console_keys to ${address.username}`,
    );
    await using console = await startConsole(address.href, {}, suite.tokens.source);
    const browser = new Browser(console.client);
    await browser.post('/login', { token: readToken() });
    const answer = await browser.post(path);
    expect(answer.status).to.equal(503);
    expect(answer.body).to.contain('insert on deliveries');
  });

  it('says that the channel is gone', async () => {
    const browser = await suite.reader();
    expect((await browser.post(path)).headers.location).to.match(/test=gone#channels-title$/);
  });

  it('takes no form of another site, and none of another organization', async () => {
    await declareChannel(suite.database.db, { url: 'https://incidents.example/' });
    const browser = await suite.reader();
    const foreign = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' };
    expect((await browser.post(path, {}, foreign)).status).to.equal(403);
    expect((await (await suite.reader('globex')).post(path)).status).to.equal(404);
    expect(await deliveries()).to.deep.equal([]);
  });
});
