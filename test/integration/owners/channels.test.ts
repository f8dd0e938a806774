import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { sql } from 'kysely';
import { followDeclarations } from '../../../cmd/controller/declarations.ts';
import { controllerDatabase } from '../../../cmd/controller/databases.ts';
import { fileKeyStore } from '../../../internal/cluster/file-key-store.ts';
import { AddressKeeper } from '../../../internal/controller/notify/address-keeper.ts';
import { ChannelSender } from '../../../internal/controller/notify/channel-sender.ts';
import { createRegistry } from '../../../internal/kit/telemetry/metrics.ts';
import { notifyMetrics } from '../../../internal/controller/notify/notify-metrics.ts';
import { openDatabase } from '../../../internal/wiring/databases.ts';
import { together } from '../../../internal/store/apart.ts';
import type { Browser } from '../../support/browser.ts';
import { suiteLogin } from '../../support/login.ts';
import { startReceiver, type Receiver } from '../../support/notify/receiver.ts';
import { vendorFormats } from '../../support/notify/vendor-formats.ts';
import { OidcProvider } from '../../support/oidc-provider.ts';
import { gus, olga, rita, roles } from '../../support/owners.ts';
import { query } from '../../support/postgres-server.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { until } from '../../support/until.ts';

const path = '/o/acme/settings/channels';
const html = { accept: 'text/html' };

describe('channels that owners make in the console', () => {
  let provider: OidcProvider;
  let receiver: Receiver;
  let folder: string;
  before(async () => {
    provider = await OidcProvider.start();
    receiver = await startReceiver();
    folder = await mkdtemp(join(tmpdir(), 'runledger-channels-'));
  });
  after(async () => {
    await provider.stop();
    await receiver[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });
  const suite = suiteLogin(() => provider.settings(roles));
  beforeEach(async () => {
    for (const table of ['console_channels', 'channels', 'deliveries', 'channel_keys'] as const) {
      await suite.database.db.deleteFrom(table).execute();
    }
  });
  const logIn = async (account: Parameters<Browser['logIn']>[1]): Promise<Browser> => {
    const browser = suite.browser();
    await browser.logIn(provider, account);
    return browser;
  };
  /** The parts of a controller: the key, the declarations, and the sender. */
  const startController = async () => {
    const { logger } = recordingLogger();
    const db = openDatabase(suite.database.url, controllerDatabase, logger);
    const keeper = new AddressKeeper({ db, store: fileKeyStore(join(folder, 'channel-key.json')), logger });
    const sender = new ChannelSender({
      db,
      secretsOf: (channel) => keeper.secretsOf(db, channel),
      allowPrivate: true,
      metrics: notifyMetrics(createRegistry('controller')),
      logger,
      ca: receiver.ca,
      timings: { intervalMs: 20 },
    });
    const listener = followDeclarations({
      current: () => ({ automations: [], channels: [] }),
      refuse: () => undefined,
      afterTick: () => undefined,
    });
    await keeper.start();
    await sender.start();
    await until('the key is published', async () => (await db.selectFrom('channel_keys').selectAll().execute())[0]);
    return {
      tick: () => db.transaction().execute((trx) => listener.recordTick(trx, Date.now(), undefined, together)),
      [Symbol.asyncDispose]: async () => {
        await sender.stop();
        await keeper.stop();
        await db.destroy();
      },
    };
  };
  const chat = () => ({
    name: 'billing-chat',
    type: 'slack',
    url: `${receiver.url}-secret`,
    owners: 'Finance',
    tags: 'nightly, SAP',
  });

  it('are encrypted for the controller, told a test, shown with the answer, in Activity, and removed', async () => {
    await using controller = await startController();
    const browser = await logIn(olga);
    const made = await browser.post(path, chat());
    expect([made.status, made.headers.location]).to.deep.equal([303, `https://console.example${path}`]);
    expect((await browser.get(path, html)).body).to.include('<bdi>billing-chat</bdi>: being set up');
    const dump = await query(suite.database.url, 'select row_to_json(c)::text from console_channels c');
    expect(JSON.stringify(dump)).to.include('billing-chat').and.not.to.include('-secret');
    await controller.tick();
    const row = await suite.database.db.selectFrom('channels').selectAll().executeTakeFirstOrThrow();
    expect(row).to.deep.include({ namespace: 'runledger.console', name: 'billing-chat', type: 'slack', url: '' });
    expect(row.filter).to.deep.equal({ owners: ['Finance'], tags: ['nightly', 'SAP'] });
    const page = (await browser.get(path, html)).body;
    expect(page).to.include('billing-chat').and.not.to.include('-secret');
    expect(page).to.not.include('being set up');
    receiver.answer = (_, response) => response.writeHead(404).end('no_service');
    const test = '/o/acme/channels/runledger.console/billing-chat/test';
    expect((await browser.post(test)).headers.location).to.match(/test=sent#channels-title$/);
    await until('the answer is shown', async () => {
      return (await browser.get(path, html)).body.includes('the receiver answered 404: no_service');
    });
    receiver.answer = (_, response) => response.writeHead(200).end('ok');
    await browser.post(test);
    await until('the test is delivered', async () => (await browser.get(path, html)).body.includes('Delivered'));
    const bodies = receiver.received.map(({ body }) => body);
    expect(bodies.flatMap((body) => vendorFormats.slack(body))).to.deep.equal([]);
    expect(bodies.at(-1)).to.include('A test from Runledger');
    await browser.post(`${path}/billing-chat/remove`);
    await controller.tick();
    expect(await suite.database.db.selectFrom('channels').selectAll().execute()).to.deep.equal([]);
    await suite.console.stop();
    const acts = suite.database.db.selectFrom('access_log').select(['name', 'action', 'detail']);
    expect(await acts.where('action', '<>', 'looked').orderBy('id').execute()).to.deep.equal([
      { name: 'Olga', action: 'issued', detail: 'slack channel billing-chat' },
      { name: 'Olga', action: 'tested', detail: 'channel billing-chat' },
      { name: 'Olga', action: 'tested', detail: 'channel billing-chat' },
      { name: 'Olga', action: 'revoked', detail: 'channel billing-chat' },
    ]);
    expect((await stat(join(folder, 'channel-key.json'))).mode & 0o777).to.equal(0o600);
  });

  it('of mail need no key; a wrong form is explained, and never shows an address again', async () => {
    const browser = await logIn(olga);
    const mail = { name: 'people', type: 'email', mail: 'ana@acme.example, ben@acme.example', from: '22:00', to: '7' };
    const wrong = await browser.post(path, mail);
    expect(wrong.status).to.equal(400);
    expect(wrong.body).to.include('quietHours.to: must be a time').and.to.include('value="people"');
    expect((await browser.post(path, { ...mail, to: '07:00' })).status).to.equal(303);
    const row = await suite.database.db.selectFrom('console_channels').selectAll().executeTakeFirstOrThrow();
    expect(row.spec).to.deep.include({
      to: ['ana@acme.example', 'ben@acme.example'],
      quietHours: { from: '22:00', to: '07:00', timeZone: 'UTC' },
    });
    expect((await browser.post(path, { ...mail, to: '07:00' })).body).to.include('name: it is taken');
    const plain = await browser.post(path, { ...chat(), url: 'http://chat.example/-secret' });
    expect(plain.status).to.equal(400);
    expect(plain.body).to.include('must be an address that begins with https://').and.not.to.include('-secret');
    expect((await browser.post(path, chat())).body).to.include('No controller that keeps addresses is running.');
  });

  it('take no address of another channel, however it came into Postgres', async () => {
    await using controller = await startController();
    const browser = await logIn(olga);
    await browser.post(path, chat());
    await suite.database.db.updateTable('console_channels').set({ organization: 'globex' }).execute();
    await controller.tick();
    const before = receiver.received.length;
    const other = await logIn(gus);
    await other.post('/o/globex/channels/runledger.console/billing-chat/test');
    const { last_error } = await until('an attempt', async () => {
      const [delivery] = await suite.database.db.selectFrom('deliveries').selectAll().execute();
      return (delivery?.last_error ?? null) !== null && delivery;
    });
    expect(last_error).to.equal('its address is not known yet');
    expect(receiver.received).to.have.lengthOf(before);
  });

  const routes = [
    ['GET', path, {}],
    ['POST', path, { name: 'mails', type: 'email', mail: 'ana@acme.example' }],
    ['POST', `${path}/kept/remove`, {}],
  ] as const;
  const send = (browser: Browser, [method, to, form]: (typeof routes)[number], headers = {}) =>
    method === 'GET' ? browser.get(to, { accept: 'application/json', ...headers }) : browser.post(to, form, headers);
  const keepOne = async () => {
    const owner = await logIn(olga);
    await owner.post(path, { name: 'kept', type: 'email', mail: 'ana@acme.example' });
    return owner;
  };
  const names = async () =>
    (await suite.database.db.selectFrom('console_channels').select('name').execute()).map((row) => row.name);

  it('are out of reach for readers, owners of other organizations, strangers, and forms of another site', async () => {
    const owner = await keepOne();
    const [reader, byToken, foreign] = [await logIn(rita), await suite.reader(), await logIn(gus)];
    const site = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' };
    for (const route of routes) {
      const what = `${route[0]} ${route[1]}`;
      for (const browser of [reader, byToken]) expect((await send(browser, route)).status, what).to.equal(403);
      expect((await send(foreign, route)).status, what).to.equal(404);
      expect((await send(suite.browser(), route)).status, what).to.be.oneOf([302, 401]);
      if (route[0] === 'POST') expect((await send(owner, route, site)).status, what).to.equal(403);
    }
    expect(await names()).to.deep.equal(['kept']);
    expect(await readFile(join(folder, 'channel-key.json'), 'utf8')).to.include('"d":');
  });

  it('are made and removed only within an hour after a login', async () => {
    const owner = await keepOne();
    const old = sql<Date>`now() - interval '61 minutes'`;
    await suite.database.db.updateTable('sessions').set({ created_at: old }).execute();
    for (const route of routes.slice(1)) {
      const answer = await send(owner, route);
      expect([answer.status, answer.body.includes('log in again')], route[1]).to.deep.equal([403, true]);
    }
    expect((await owner.get(path, html)).body)
      .to.include('/login/oidc?to=')
      .and.not.to.include('Make a channel</button>')
      .and.not.to.include('/kept/remove');
    expect(await names()).to.deep.equal(['kept']);
  });
});
