import { expect } from 'chai';
import { suiteLogin } from '../../support/login.ts';
import { declareWebhook } from '../../support/notify/expectations.ts';

const path = '/o/acme/webhooks/acme-automations/incidents/test';

describe('the button that sends a test', () => {
  const suite = suiteLogin();

  beforeEach(async () => {
    for (const table of ['deliveries', 'webhooks'] as const) await suite.database.db.deleteFrom(table).execute();
  });

  const deliveries = () => suite.database.db.selectFrom('deliveries').selectAll().execute();

  it('puts one notification into the outbox, until it is sent', async () => {
    await declareWebhook(suite.database.db, { url: 'https://incidents.example/' });
    const browser = await suite.reader();
    const answer = await browser.post(path);
    expect(answer.status).to.equal(303);
    expect(answer.headers.location).to.equal('https://console.example/o/acme/alerts?test=sent');
    expect((await browser.post(path)).headers.location).to.match(/test=waiting$/);
    const [row, ...others] = await deliveries();
    expect(others).to.deep.equal([]);
    expect(row).to.deep.include({ organization: 'acme', webhook_name: 'incidents', attempts: 0 });
    expect(row?.event).to.deep.include({ type: 'dev.runledger.test', source: 'https://console.example/o/acme/' });
    await suite.database.db.updateTable('deliveries').set({ delivered_at: new Date() }).execute();
    expect((await browser.post(path)).headers.location).to.match(/test=sent$/);
  });

  it('says that the webhook is gone', async () => {
    const browser = await suite.reader();
    expect((await browser.post(path)).headers.location).to.match(/test=gone$/);
  });

  it('takes no form of another site, and none of another organization', async () => {
    await declareWebhook(suite.database.db, { url: 'https://incidents.example/' });
    const browser = await suite.reader();
    const foreign = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' };
    expect((await browser.post(path, {}, foreign)).status).to.equal(400);
    expect((await (await suite.reader('globex')).post(path)).status).to.equal(404);
    expect(await deliveries()).to.deep.equal([]);
  });
});
