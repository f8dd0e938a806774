import { expect } from 'chai';
import { followDeclarations } from '../../../cmd/controller/declarations.ts';
import type { DeclaredAutomation } from '../../../internal/controller/declarations/declarations.ts';
import { together } from '../../../internal/store/apart.ts';
import type { Browser } from '../../support/browser.ts';
import { suiteLogin } from '../../support/login.ts';
import { OidcProvider } from '../../support/oidc-provider.ts';
import { formOf, gus, olga, rita, roles } from '../../support/owners.ts';

const list = '/o/acme/automations';
const html = { accept: 'text/html' };
const day = 86_400_000;

describe('automations that owners declare in the console', () => {
  let provider: OidcProvider;
  before(async () => {
    provider = await OidcProvider.start();
  });
  after(() => provider.stop());
  const suite = suiteLogin(() => provider.settings(roles));
  beforeEach(async () => {
    for (const table of ['console_automations', 'automations', 'executions'] as const) {
      await suite.database.db.deleteFrom(table).execute();
    }
  });
  const logIn = async (account: Parameters<Browser['logIn']>[1]): Promise<Browser> => {
    const browser = suite.browser();
    await browser.logIn(provider, account);
    return browser;
  };
  /** What a controller does in a tick, with what resources declare. */
  const tick = async (...automations: DeclaredAutomation[]): Promise<void> => {
    const source = {
      current: () => ({ automations, channels: [] }),
      refuse: () => undefined,
      afterTick: () => undefined,
    };
    const listener = followDeclarations(source);
    await suite.database.db.transaction().execute(async (trx) => {
      await listener.recordTick(trx, Date.now(), undefined, together);
    });
  };
  const begin = (browser: Browser, id?: string) =>
    formOf(browser, `${list}/new${id === undefined ? '' : `?id=${id}`}`, list);
  const filled = { name: 'Nightly invoices', owner: 'Finance', runbook: 'https://wiki.example/invoices' };

  it('get an id, a name, an owner and a runbook, and a page with snippets; lists and searches know them', async () => {
    const browser = await logIn(olga);
    const { id = '' } = await begin(browser);
    const saved = await browser.post(list, { id, ...filled, act: 'save' });
    expect([saved.status, saved.headers.location]).to.deep.equal([303, `https://console.example${list}/${id}/report`]);
    const { body } = await browser.get(`${list}/${id}/report`, html);
    for (const text of [
      'curl https://',
      'Invoke-RestMethod',
      'urllib.request',
      'runledger exec',
      'UiPath',
      '/ping/$PING_TOKEN/',
      id,
    ]) {
      expect(body).to.include(text);
    }
    await tick();
    for (const word of ['invoices', 'FINANCE', id.slice(0, 8)]) {
      expect((await browser.get(`${list}?id=${word}`, html)).body, word).to.include('Nightly invoices');
    }
    const page = await browser.get(`${list}/${id}`, html);
    for (const text of [
      'Nightly invoices',
      'Finance',
      'https://wiki.example/invoices',
      'declared in this console',
      'Edit',
    ]) {
      expect(page.body).to.include(text);
    }
    const yaml = (await browser.get('/o/acme/automations.yaml')).body;
    expect(yaml).to.include('kind: Automation').and.to.include('displayName: Nightly invoices').and.to.include(id);
    await browser.post(`${list}/${id}/remove`);
    await tick();
    expect((await browser.get(`${list}/${id}`, html)).status).to.equal(404);
    await suite.console.stop();
    const acts = suite.database.db.selectFrom('access_log').select(['name', 'detail']).where('action', '=', 'named');
    expect(await acts.orderBy('id').execute()).to.deep.equal([
      { name: 'Olga', detail: `Nightly invoices ${id}` },
      { name: 'Olga', detail: `${id}, its declaration is removed` },
    ]);
  });

  it('get expectations: the form says what they mean, when the next runs are, and what the last 30 days were', async () => {
    const browser = await logIn(olga);
    const { id = '' } = await begin(browser);
    const [older, newer] = [3, 1].map((days) => new Date(Date.now() - days * day));
    const run = { organization: 'acme', automation_id: id, event_count: 0, warning_count: 0, start_count: 1 };
    await suite.database.db
      .insertInto('executions')
      .values([
        {
          ...run,
          execution_id: '1',
          first_event_at: older,
          last_event_at: older,
          started_at: older,
          ended_at: older,
          error_count: 0,
          end_count: 1,
        },
        {
          ...run,
          execution_id: '2',
          first_event_at: newer,
          last_event_at: newer,
          started_at: newer,
          failed_at: newer,
          error_count: 1,
          end_count: 0,
        },
      ] as never)
      .execute();
    const times = { schedule: '30 2 * * *', timeZone: 'Europe/Madrid', failures: '1' };
    const meaning = (await browser.post(list, { id, ...filled, ...times, act: 'check' })).body;
    expect(meaning).to.include('starts at 30 2 * * * (Europe/Madrid)').and.to.include('no run fails');
    expect(meaning.match(/expected at \d{4}-\d\d-\d\d 02:30 \(Europe\/Madrid\)/g)).to.have.length(5);
    expect(meaning).to.match(/it ran 2 times. \d+ alerts would have been told/);
    expect(await suite.database.db.selectFrom('console_automations').select('spec').execute()).to.deep.equal([]);
    const wrong = await browser.post(list, { id, ...filled, schedule: '99 2 * * *', act: 'save' });
    expect(wrong.status).to.equal(400);
    expect(wrong.body).to.include('expect.schedule:').and.to.include('value="99 2 * * *"');
    await browser.post(list, { id, ...filled, ...times, act: 'save' });
    await tick();
    const row = suite.database.db.selectFrom('automations').select('expect').where('automation_id', '=', id);
    expect(await row.executeTakeFirst()).to.deep.equal({
      expect: { schedule: '30 2 * * *', timeZone: 'Europe/Madrid', failures: { consecutive: 1 } },
    });
    expect((await browser.get(`${list}/new?id=${id}`, html)).body).to.include('value="30 2 * * *"');
  });

  it('give way to a resource, which is shown where it is declared and is read-only', async () => {
    const browser = await logIn(olga);
    const { id = '' } = await begin(browser);
    await browser.post(list, { id, ...filled, act: 'save' });
    const spec = { automationId: id, displayName: 'Of a resource', owner: '', links: [], expect: undefined };
    const place = { organization: 'acme', namespace: 'jobs', name: 'invoices', uid: 'u', generation: 1 };
    await tick({ ...spec, ...place, alertLabels: {}, suspend: false });
    const { body } = await browser.get(`${list}/${id}`, html);
    expect(body).to.include('Of a resource').and.to.include('declared as <bdi>jobs/invoices</bdi>');
    expect(body).to.not.include('automations/new?id=');
    const refused = await browser.post(list, { id, ...filled, act: 'save' });
    expect([refused.status, refused.body.includes('declared as jobs/invoices')]).to.deep.equal([400, true]);
    expect((await browser.get(`${list}/new?id=${id}`, html)).status).to.equal(400);
  });

  it('are declared by owners only, from a page of this console', async () => {
    const id = crypto.randomUUID();
    const form = { id, ...filled, act: 'save' };
    for (const [browser, status] of [
      [await logIn(rita), 403],
      [await suite.reader(), 403],
      [await logIn(gus), 404],
    ] as const) {
      expect((await browser.post(list, form)).status).to.equal(status);
      expect((await browser.post(`${list}/${id}/remove`)).status).to.equal(status);
      expect((await browser.get(`${list}/new`)).status).to.equal(status);
    }
    const owner = await logIn(olga);
    expect((await owner.post(list, form, { 'sec-fetch-site': 'cross-site' })).status).to.equal(403);
    expect(await suite.database.db.selectFrom('console_automations').select('spec').execute()).to.deep.equal([]);
    expect((await (await logIn(rita)).get(list, html)).body).to.not.include('automations/new');
  });
});
