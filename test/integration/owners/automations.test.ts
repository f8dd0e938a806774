import { expect } from 'chai';
import { followDeclarations } from '../../../cmd/controller/declarations.ts';
import type { DeclaredAutomation } from '../../../internal/controller/declarations/declarations.ts';
import { together } from '../../../internal/store/apart.ts';
import type { Browser } from '../../support/browser.ts';
import { suiteLogin } from '../../support/login.ts';
import { OidcProvider } from '../../support/oidc-provider.ts';
import { formOf, gus, manage, olga, rita, roles } from '../../support/owners.ts';

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
  const filled = {
    name: 'Nightly invoices',
    owner: 'Finance',
    tags: 'month-end, EU',
    runbook: 'https://wiki.example/invoices',
  };

  it('get an id, a name, an owner and a runbook, and a page with snippets; lists and searches know them', async () => {
    const browser = await logIn(olga);
    const { id = '' } = await begin(browser);
    const saved = await browser.post(list, { id, ...filled, act: 'save' });
    expect([saved.status, saved.headers.location]).to.deep.equal([303, `https://console.example${list}/${id}/report`]);
    // Before a controller has seen it.
    const early = await browser.get(`${list}/${id}`, html);
    expect([early.status, early.headers.location]).to.deep.equal([303, saved.headers.location]);
    expect((await browser.get(`${list}/${id}/report`, html)).body).to.include('Nightly invoices');
    await tick();
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
    for (const word of ['invoices', 'FINANCE', 'month-end', id.slice(0, 8)]) {
      expect((await browser.get(`${list}?id=${word}`, html)).body, word).to.include('Nightly invoices');
    }
    for (const word of ['finance', 'eu']) {
      const found = await browser.get(`/o/acme/executions?q=${word}`, html);
      expect(found.body, 'the search of every page').to.include(`/automations/${id}" title="${id}"`);
      const choice = await browser.get(`/o/acme/executions?automation_id=${word}`, html);
      expect(choice.status === 302 || choice.body.includes('Nightly invoices'), word).to.equal(true);
    }
    const page = await browser.get(`${list}/${id}`, html);
    for (const text of [
      'Nightly invoices',
      'Finance',
      'month-end',
      'https://wiki.example/invoices',
      'declared in this console',
      'Edit',
    ]) {
      expect(page.body).to.include(text);
    }
    const yaml = (await browser.get('/o/acme/automations.yaml')).body;
    for (const text of ['kind: Automation', 'displayName: Nightly invoices', '- month-end', id]) {
      expect(yaml).to.include(text);
    }
    // The form has no labels; the API has.
    const labels = { alert_labels: JSON.stringify({ severity: 'page' }) };
    await suite.database.db.updateTable('automations').set(labels).where('automation_id', '=', id).execute();
    expect((await browser.get('/o/acme/automations.yaml')).body).to.include('alertLabels:\n    severity: page\n');
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
    const spec = { automationId: id, displayName: 'Of a resource', owner: '', tags: [], links: [], expect: undefined };
    const place = { organization: 'acme', namespace: 'jobs', name: 'invoices', uid: 'u', generation: 1 };
    await tick({ ...spec, ...place, alertLabels: {}, suspend: false });
    const { body } = await browser.get(`${list}/${id}`, html);
    expect(body).to.include('Of a resource').and.to.include('declared as <bdi>jobs/invoices</bdi>');
    expect(body).to.not.include('automations/new?id=');
    const refused = await browser.post(list, { id, ...filled, act: 'save' });
    expect([refused.status, refused.body.includes('declared as jobs/invoices')]).to.deep.equal([400, true]);
    expect((await browser.get(`${list}/new?id=${id}`, html)).status).to.equal(400);
    const remove = `${list}/${id}/remove`;
    expect(body).to.include(`action="${remove}"`);
    expect((await (await logIn(rita)).get(`${list}/${id}`, html)).body).to.not.include(remove);
    await browser.post(remove);
    expect((await browser.get(`${list}/${id}`, html)).body).to.not.include(remove);
    expect(await suite.database.db.selectFrom('console_automations').select('spec').execute()).to.deep.equal([]);
  });

  it('keep in the form what it has no field for', async () => {
    const browser = await logIn(olga);
    const id = crypto.randomUUID();
    const links = [1, 2].map((number) => ({ title: `Page ${number}`, url: `https://wiki.example/${number}` }));
    const expectations = { every: '1h', lostAfter: '2d', failures: { rate: 50, of: 10 } };
    const more = { links, alert_labels: { team: 'x' }, suspend: true, expect: expectations };
    await manage(suite, 'PUT', `/v1/automations/${id}/`, { display_name: 'Ours', ...more });
    const form = { name: 'Theirs', runbook: 'https://wiki.example/1', every: '2h', act: 'save' };
    expect((await browser.post(list, { id, ...form })).status).to.equal(303);
    const row = suite.database.db.selectFrom('console_automations').select('spec');
    expect((await row.executeTakeFirst())?.spec).to.deep.include({
      displayName: 'Theirs',
      links,
      alertLabels: { team: 'x' },
      suspend: true,
      expect: { ...expectations, every: '2h' },
    });
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

  describe('over the API', () => {
    const [one, two, three] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()].sort();
    const declared = (automation_id: string | undefined, more: object = {}) => ({
      automation_id,
      display_name: `Job ${automation_id}`,
      ...more,
    });
    const put = (automations: unknown[], query = '') =>
      manage(suite, 'PUT', `/v1/automations/${query}`, { automations });
    const ids = async () => {
      const rows = suite.database.db.selectFrom('console_automations').select('automation_id').orderBy('automation_id');
      return (await rows.execute()).map(({ automation_id: id }) => id);
    };

    it('a file of declarations is applied whole: the answer says what changed, and a second time nothing', async () => {
      const full = {
        owner: 'Finance',
        tags: ['nightly', 'eu'],
        links: [{ title: 'Runbook', url: 'https://wiki.example/1' }],
        expect: { schedule: '30 2 * * *', timeZone: 'Europe/Madrid', failures: { consecutive: 2 } },
        alert_labels: { team: 'finance' },
      };
      const first = await put([declared(one, full), declared(two)], '?dry_run');
      const none = { changed: [], unchanged: [], removed: [], overruled: [] };
      expect(first.json()).to.deep.equal({ ...none, dry_run: true, created: [one, two] });
      expect(await ids()).to.deep.equal([]);
      expect((await put([declared(one, full), declared(two)])).json()).to.include({ dry_run: false });
      expect((await put([declared(two), declared(one, full)])).json()).to.deep.equal({
        ...none,
        dry_run: false,
        created: [],
        unchanged: [two, one],
      });
      await tick();
      const read = await manage(suite, 'GET', `/v1/automations/${one}/`);
      expect(read.json<{ declaration: object }>().declaration).to.include({ owner: 'Finance', suspend: false });
      expect(read.json<{ declaration: object }>().declaration).to.deep.include({
        tags: ['nightly', 'eu'],
        expect: full.expect,
        links: full.links,
      });
      const second = await put([declared(two, { owner: 'Legal' }), declared(three)]);
      expect(second.json()).to.deep.equal({
        dry_run: false,
        created: [three],
        changed: [two],
        unchanged: [],
        removed: [one],
        overruled: [],
      });
      expect(await ids()).to.deep.equal([two, three]);
      expect((await put([])).json()).to.deep.include({ removed: [two, three] });
      await suite.console.stop();
      const acts = suite.database.db.selectFrom('access_log').select(['name', 'detail']).where('action', '=', 'named');
      expect((await acts.orderBy('id').execute()).map(({ detail }) => detail)).to.deep.equal([
        'automations: 2 created, 0 changed, 0 removed',
        'automations: 1 created, 1 changed, 1 removed',
        'automations: 0 created, 0 changed, 2 removed',
      ]);
      expect((await acts.execute())[0]?.name).to.match(/^manage token [0-9a-f]{12}$/);
    });

    it('one automation is declared, changed and removed; a resource that wins is named', async () => {
      const path = `/v1/automations/${one}/`;
      const place = { organization: 'acme', namespace: 'jobs', name: 'invoices', uid: 'u', generation: 1 };
      const spec = { automationId: one ?? '', displayName: 'Of a resource', owner: '', tags: [], links: [] };
      await tick({ ...spec, ...place, expect: undefined, alertLabels: {}, suspend: false });
      const created = await manage(suite, 'PUT', path, { display_name: 'Ours' });
      expect([created.status, created.json()['overruled']]).to.deep.equal([
        201,
        [{ automation: one, by: 'jobs/invoices' }],
      ]);
      const again = await manage(suite, 'PUT', path, { automation_id: one, display_name: 'Ours', owner: 'Ops' });
      expect([again.status, again.json()['changed']]).to.deep.equal([200, [one]]);
      expect((await manage(suite, 'DELETE', path)).status).to.equal(204);
      expect((await manage(suite, 'DELETE', path)).status).to.equal(404);
    });

    it('a fault is answered with its field and pointer, and changes nothing', async () => {
      const refused = await put([
        declared('no-uuid'),
        declared(one, { expect: { schedule: '99 2 * * *' }, colour: 'red' }),
        declared(two, { links: [{ url: 'ftp://x' }], tags: [''] }),
        { automation_id: three },
        'text',
      ]);
      expect(refused.status).to.equal(400);
      const { errors } = refused.json<{ errors: { pointer: string; detail: string }[] }>();
      expect(errors.map(({ pointer }) => pointer)).to.deep.equal([
        '/automations/0/automation_id',
        '/automations/1/colour',
        '/automations/1/expect/schedule',
        '/automations/2/tags',
        '/automations/2/links/0/url',
        '/automations/3/display_name',
        '/automations/4',
      ]);
      const twice = await put([declared(one), declared(one)]);
      expect(twice.json<{ errors: object[] }>().errors[0]).to.include({ pointer: '/automations/1/automation_id' });
      for (const [body, status] of [
        ['{', 400],
        ['[]', 400],
        ['{}', 400],
        [' '.repeat(5_000_000), 413],
      ] as const) {
        expect((await manage(suite, 'PUT', '/v1/automations/', body)).status, body.slice(0, 3)).to.equal(status);
      }
      expect((await manage(suite, 'PUT', '/v1/automations/?dry=1', {})).status).to.equal(400);
      expect(await ids()).to.deep.equal([]);
    });

    it('needs a token of scope manage, and of the organization', async () => {
      for (const [token, status] of [
        ['read-token-of-acme', 403],
        ['write-token-of-acme', 403],
        ['no-token-at-all-16', 401],
      ] as const) {
        for (const [method, path] of [
          ['PUT', '/v1/automations/'],
          ['PUT', `/v1/automations/${one}/`],
          ['DELETE', `/v1/automations/${one}/`],
          ['GET', '/v1/tokens/'],
          ['POST', '/v1/tokens/'],
          ['GET', '/v1/tokens/0123456789ab/'],
          ['DELETE', '/v1/tokens/0123456789ab/'],
          ['POST', '/v1/tokens/0123456789ab/rotate/'],
        ] as const) {
          const answer = await manage(suite, method, path, method === 'GET' ? undefined : {}, { token });
          expect(answer.status, `${method} ${path}`).to.equal(status);
        }
      }
      expect((await manage(suite, 'GET', '/v1/executions/')).status, 'the record').to.equal(403);
      await put([declared(one)]);
      const foreign = { token: 'manage-token-of-globex' };
      expect((await manage(suite, 'DELETE', `/v1/automations/${one}/`, undefined, foreign)).status).to.equal(404);
      expect((await manage(suite, 'PUT', '/v1/automations/', { automations: [] }, foreign)).status).to.equal(200);
      expect(await ids()).to.deep.equal([one]);
    });
  });
});
