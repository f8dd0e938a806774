import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { ApiClient } from '../support/api-client.ts';
import { createKeyPair } from '../support/certificate.ts';
import { Child } from '../support/child.ts';
import { openPage, startBrowser, type WatchedPage } from '../support/chromium.ts';
import { eventBody } from '../support/events.ts';
import { freePort } from '../support/free-port.ts';
import { findKubectl } from '../support/helm-binaries.ts';
import type { Kubernetes } from '../support/node/kubernetes.ts';
import { LoadedRelease } from '../support/node/loaded-release.ts';
import { sharedKubernetes } from '../support/node/shared-kubernetes.ts';
import { startMailServer, type TestMailServer } from '../support/notify/mail-server.ts';
import { startReceiver, type Receiver } from '../support/notify/receiver.ts';
import { vendorFormats } from '../support/notify/vendor-formats.ts';
import { OidcProvider } from '../support/oidc-provider.ts';
import { olga, roles } from '../support/owners.ts';
import { until } from '../support/until.ts';

const address = 'https://record.example.com';
const title = 'Nightly invoices did not start when it should';
/** Longest time until every ingest refuses a revoked token, in ms. */
const longestEnd = 2_000;

describe('an owner with the address of the console, and nobody to ask', () => {
  let kubernetes: Kubernetes;
  let release: LoadedRelease;
  let mail: TestMailServer;
  let chat: Receiver;
  let provider: OidcProvider;
  let browser: Browser;
  let opened: WatchedPage;
  let page: Page;

  before(async () => {
    kubernetes = sharedKubernetes();
    release = await LoadedRelease.shared(kubernetes);
    const began = performance.now();
    // This machine's end of the cable to the nodes.
    const host = kubernetes.addressOf('n1').replace(/\d+$/, '254');
    const pair = await createKeyPair(host);
    mail = await startMailServer({}, { host, pair });
    chat = await startReceiver({ host, pair });
    chat.answer = ({ body }, response) => {
      const faults = vendorFormats.slack(body);
      response.writeHead(faults.length === 0 ? 200 : 400).end(faults.length === 0 ? 'ok' : JSON.stringify(faults));
    };
    provider = await OidcProvider.create(`${address}/login/callback`, { host, port: await freePort(), pair });
    await provider.startAgain();
    const secret = (name: string, stringData: object): object => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, namespace: release.namespace },
      stringData,
    });
    await kubernetes.apply(
      secret('people-ca', { 'ca.crt': pair.cert }),
      secret('people-mail', { url: `smtp://runledger:secret@${host}:${mail.port}` }),
      secret('people-oidc', { 'client-secret': provider.settings({})['OIDC_CLIENT_SECRET'] }),
    );
    const here = [{ ipBlock: { cidr: `${host}/32` } }];
    const values = {
      'caBundle.secret': 'people-ca',
      'console.oidc': {
        issuer: provider.issuer,
        clientId: 'runledger',
        clientSecret: { name: 'people-oidc' },
        scopes: 'openid profile groups',
        organizations: roles,
      },
      'controller.mail': { existingSecret: 'people-mail', from: 'Runledger <runledger@example.com>' },
      'controller.channels.allowPrivate': true,
      'networkPolicy.oidcTo': here,
      'networkPolicy.channelTo': here,
      'networkPolicy.channelPorts': [mail.port, chat.port],
    };
    const set = Object.entries(values).flatMap(([key, value]) => ['--set-json', `${key}=${JSON.stringify(value)}`]);
    await kubernetes.helm('upgrade', ...release.arguments, '--reuse-values', ...set);
    await release.rolledOut('deployment/runledger-console', 'deployment/runledger-controller');
    console.log(`      the installation has its provider after ${seconds(began)} s`);
    await beginEarlier(kubernetes, release.namespace);
    browser = await startBrowser({ [new URL(address).host]: release.reporting.address });
    opened = await openPage(browser, 0, {
      baseURL: address,
      ignoreHTTPSErrors: true,
      extraHTTPHeaders: { 'x-account': JSON.stringify(olga) },
    });
    ({ page } = opened);
    // A network policy reaches a new pod after it is ready: until then no provider answers it.
    const statuses = `Promise.all(Array.from({ length: 8 }, async () => (await fetch('/login/oidc', { redirect: 'manual' })).status))`;
    await page.goto('/login');
    const allLead = async (): Promise<boolean> => Math.max(...(await page.evaluate<number[]>(statuses))) < 400;
    await until('each console reaches the provider', allLead);
  });
  after(async () => {
    await browser?.close();
    await provider?.stop();
    await chat?.[Symbol.asyncDispose]();
    await mail?.[Symbol.asyncDispose]();
  });

  /** Runs a command that the console shows, on a machine that knows the host of ingest. */
  const runShown = async (command: string, token: string): Promise<string> => {
    const { url, address: ip, ca } = release.reporting;
    const folder = await mkdtemp(join(tmpdir(), 'runledger-owner-'));
    await writeFile(join(folder, 'ca.pem'), ca);
    const curl = `curl() { command curl --silent --fail-with-body --cacert ${folder}/ca.pem --resolve ${url.host}:443:${ip} "$@"; }`;
    const env = { ...process.env, TOKEN: token };
    const { stdout } = await promisify(execFile)('bash', ['-c', `${curl}\n${command}`], { env });
    await rm(folder, { recursive: true });
    return stdout;
  };

  /** Makes a token with the form of the page; resolves when it is in force. */
  const shownToken = async (button: string): Promise<string> => {
    await page.getByRole('button', { name: button }).click();
    const token = await page.locator('[data-token]').innerText();
    await page.getByText('In force: every ingest accepts it.').waitFor();
    await page.getByRole('link', { name: 'I have kept it' }).click();
    return token;
  };

  it('logs in, reports, expects, is told, mutes, rotates and revokes', async () => {
    const began = performance.now();
    await page.goto('/');
    await page.getByRole('link', { name: /^Log in with/ }).click();
    await page.waitForURL(`${address}/o/acme/`);
    await page.locator('[data-live][data-state=on]').waitFor();
    expect(await page.locator('.steps > li').count()).to.equal(3);
    const overview = page;
    page = await opened.context.newPage();

    await page.goto('/o/acme/automations');
    await page.getByRole('link', { name: /^New/ }).click();
    await page.getByLabel('Name').fill('Nightly invoices');
    await page.getByRole('button', { name: 'Save' }).click();
    const command = await page.locator('.command pre').first().innerText();
    const [, id = ''] = /\/automations\/([^/]+)\/report/.exec(page.url()) ?? [];
    await page.getByRole('link', { name: 'write token' }).click();
    await page.getByLabel('Name').fill('Invoice robot');
    const token = await shownToken('Make a token');
    expect(await runShown(command, token)).to.include('"execution_id":"run-1"');
    // Without a reload.
    await overview.locator('.tiles').waitFor();
    console.log(`      the first event is seen ${seconds(began)} s after the login began`);

    for (const [name, type, field, value] of [
      ['invoices-mail', 'email', /^Mail addresses/, 'ana@example.com'],
      ['invoices-chat', 'slack', /^Address/, chat.url],
    ] as const) {
      await page.goto('/o/acme/settings/channels');
      await page.getByLabel('Name', { exact: true }).fill(name);
      await page.getByLabel('Type').selectOption(type);
      await page.getByLabel(field).fill(value);
      await page.getByText('Choose less').click();
      await page.getByRole('textbox', { name: /^Automations/ }).fill(id);
      await page.getByRole('button', { name: 'Make a channel' }).click();
      await page.locator('#channels').getByText(name).waitFor();
    }
    await page.locator('#channels').getByText('being set up').first().waitFor({ state: 'detached' });

    await page.goto(`/o/acme/automations/${id}`);
    await page.getByRole('link', { name: 'Edit' }).click();
    await page.getByLabel('Starts at').fill('* * * * *');
    await page.getByLabel('Grace').fill('1s');
    await page.getByRole('button', { name: 'What does that mean?' }).click();
    expect(await page.getByRole('region', { name: 'What it means' }).innerText()).to.include(
      'In the last 30 days it ran 1 time.',
    );
    await page.getByRole('button', { name: 'Save' }).click();
    const saved = performance.now();
    await until('the mail', () => mail.mails.length > 0, 180_000);
    await until('the message in the chat', () => chat.received.length > 0);
    console.log(`      told ${seconds(saved)} s after the expectation was saved`);
    expect(mail.mails.map(({ to, headers }) => [to, headers.get('subject')])).to.deep.equal([
      [['ana@example.com'], `[acme] ${title}`],
    ]);
    expect(chat.received.flatMap(({ body }) => vendorFormats.slack(body))).to.deep.equal([]);
    expect(chat.received.map(({ body }) => (JSON.parse(body) as { text: string }).text)).to.deep.equal([`🔴 ${title}`]);
    const [link = ''] = /https:\S+/.exec(mail.mails[0]?.parts.get('text/plain') ?? '') ?? [];
    await page.goto(link);
    expect(await page.locator('main').innerText()).to.include('Nightly invoices');

    await page.goto(`/o/acme/automations/${id}`);
    await page.getByRole('link', { name: 'Mute', exact: true }).click();
    await page.getByLabel('Why').first().fill('The host moves');
    await page.getByRole('button', { name: 'Mute', exact: true }).click();
    await page.getByText('The host moves').waitFor();
    // Viewers share figures for a while: nobody has looked at these.
    await page.goto('/o/acme/?window=7d');
    expect(await page.locator('main').innerText()).to.include('The host moves');

    await page.goto('/o/acme/settings/tokens');
    await page.getByRole('link', { name: 'Invoice robot' }).click();
    const successor = await shownToken('Make a new token');
    await using ingests = await ingestsOf(kubernetes, release.namespace);
    expect(await ingests.statuses(token)).to.deep.equal([201, 201]);
    expect(await ingests.statuses(successor)).to.deep.equal([201, 201]);
    await page
      .getByRole('row')
      .filter({ hasText: token.slice(-4) })
      .getByRole('link')
      .click();
    await page.getByLabel(/^Type Invoice robot/).fill('Invoice robot');
    const revoked = performance.now();
    await page.getByRole('button', { name: 'Revoke the token' }).click();
    const ended = async (): Promise<boolean> => (await ingests.statuses(token)).every((status) => status === 401);
    await until('401 from every ingest', ended, 30_000, 20);
    const took = performance.now() - revoked;
    console.log(`      every ingest refuses the token ${Math.round(took)} ms after it was revoked`);
    expect(took).to.be.lessThan(longestEnd);
    expect(await ingests.statuses(successor)).to.deep.equal([201, 201]);

    const acts = ['issued', 'named', 'muted', 'rotated', 'revoked'];
    const areListed = async (): Promise<boolean> => {
      await page.goto('/o/acme/settings/activity');
      const activity = await page.locator('main').innerText();
      return acts.every((act) => activity.includes(act));
    };
    await until('all acts in Activity', areListed, 20_000, 500);
    await page.goto('/o/acme/');
    await page.locator('[data-live][data-state=on]').waitFor();
    expect(opened.complaints.filter((text) => !ofTheNetwork.test(text))).to.deep.equal([]);
    console.log(`      all of it in ${seconds(began)} s`);
  });
});

/** What Chromium says when the network of its machine changes. The page connects again. */
const ofTheNetwork = /net::ERR_NETWORK_CHANGED|htmx:sse:error: network error/;

function seconds(since: number): number {
  return Math.round((performance.now() - since) / 1_000);
}

/**
 * Clocks may be wrong, so whether a run started within five minutes of a time without ingest is
 * unknown. This record gets no such time: neither its beginning nor an installation before.
 */
async function beginEarlier(kubernetes: Kubernetes, namespace: string): Promise<void> {
  const forget = `for at = 0, redis.call('LLEN', key) - 1 do redis.call('LSET', key, at, '0-1') end`;
  const script = `for _, key in ipairs(redis.call('KEYS', '*:gaps')) do ${forget} end`;
  const redis = `REDISCLI_AUTH=$(cat /etc/runledger/secrets/*/password) redis-cli eval "${script}" 0`;
  const pod = ['--namespace', namespace, 'runledger-redis-0', '--container', 'redis'];
  await kubernetes.kubectl('exec', ...pod, '--', 'sh', '-c', redis);
  const database = await kubernetes.postgres(namespace);
  const [changed] = await database.query<{ at: string }>('select now()::text as at');
  const ticked = `select from controller_state where ticked_at > '${changed?.at}'`;
  await until('a tick has read the gaps', async () => (await database.query(ticked)).length > 0, 240_000);
  await database.query('delete from record_gaps');
  await database.close();
}

/** Ways to each pod of ingest, past the Gateway. */
async function ingestsOf(
  kubernetes: Kubernetes,
  namespace: string,
): Promise<AsyncDisposable & { statuses(token: string): Promise<number[]> }> {
  const kubectl = await findKubectl();
  const pods = (await kubernetes.pods(namespace)).filter(({ name }) => name.includes('ingest'));
  const ways = await Promise.all(
    pods.map(async ({ name }) => {
      const args = ['--kubeconfig', kubernetes.kubeconfig, 'port-forward', '--namespace', namespace, `pod/${name}`];
      const forward = new Child(kubectl, [...args, ':8080']);
      const port = /:(\d+) ->/.exec(await forward.line(/^Forwarding from/))?.[1];
      return { forward, client: new ApiClient(`http://127.0.0.1:${port}`, { 'x-forwarded-proto': 'https' }) };
    }),
  );
  return {
    statuses: (token) =>
      Promise.all(ways.map(async ({ client }) => (await client.register(eventBody(), { token })).status)),
    [Symbol.asyncDispose]: async () => {
      for (const { client } of ways) client.close();
      await Promise.all(ways.map(({ forward }) => forward.kill('SIGKILL')));
    },
  };
}
