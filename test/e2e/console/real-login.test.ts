import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { CertificateFiles, createKeyPair } from '../../support/certificate.ts';
import { openPage, startBrowser } from '../../support/chromium.ts';
import { readToken, startConsole, type RunningConsole } from '../../support/console.ts';
import { fleetDatabase } from '../../support/fleet/store-fleet.ts';
import { freePort } from '../../support/free-port.ts';
import { TokenFile } from '../../support/login.ts';
import { OidcProvider } from '../../support/oidc-provider.ts';
import { olga, roles, startKeeper } from '../../support/owners.ts';
import { until } from '../../support/until.ts';
import type { TestDatabase } from '../../support/store.ts';

const alice = { sub: 'alice', name: 'Alice', groups: ['acme-staff'] };

describe('a person in a browser, over HTTPS', function () {
  this.timeout(60_000);
  let browser: Browser;
  let provider: OidcProvider;
  let database: TestDatabase;
  let tokens: TokenFile;
  let certificate: CertificateFiles;
  let console: RunningConsole;
  let address: string;

  before(async () => {
    const port = await freePort();
    address = `https://localhost:${port}`;
    provider = await OidcProvider.start(`${address}/login/callback`);
    database = await fleetDatabase();
    tokens = await TokenFile.create('acme', 'globex');
    certificate = await CertificateFiles.create(await createKeyPair('localhost'));
    const settings = {
      HTTPS_PORT: String(port),
      ...certificate.settings,
      CONSOLE_PUBLIC_URL: address,
      CONSOLE_DATABASE_CONNECTIONS: '2',
    };
    const login = provider.settings({ ...roles, 'acme-staff': 'acme' });
    console = await startConsole(database.url, { ...settings, ...login }, tokens.source);
    browser = await startBrowser();
    // Opens both connections to Postgres, which the suite keeps: two requests may share one.
    await Promise.all(Array.from({ length: 8 }, () => console.client.send({ path: '/v1/executions/' })));
    await using first = await open();
    await first.page.goto('/');
  });
  after(async () => {
    await browser.close();
    await console.stop();
    await certificate[Symbol.asyncDispose]();
    await tokens[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
    await provider.stop();
  });

  const open = (account: object = alice) =>
    openPage(browser, 0, {
      baseURL: address,
      ignoreHTTPSErrors: true,
      extraHTTPHeaders: { 'x-account': JSON.stringify(account) },
    });

  it('logs in at the provider, comes back to the page of the link, and logs out', async () => {
    await using opened = await open();
    const { page, context, complaints } = opened;
    await page.goto('/o/acme/executions?state=failed');
    await page.getByRole('link', { name: /^Log in with/ }).click();
    await page.waitForURL(`${address}/o/acme/executions?state=failed`);
    expect(await page.getByRole('heading', { level: 1 }).innerText()).to.include('Executions');
    const session = (await context.cookies()).find(({ name }) => name.startsWith('__Host-'));
    expect(session).to.include({ name: '__Host-runledger-session', httpOnly: true, secure: true, sameSite: 'Lax' });
    expect((await page.goto('/o/globex/'))?.status(), 'another organization').to.equal(404);
    await page.goto('/o/acme/');
    await page.getByLabel('Menu of Alice').click();
    await page.getByRole('button', { name: 'Log out', exact: true }).click();
    await page.waitForURL(/\/login/);
    await context.addCookies(session === undefined ? [] : [session]);
    await page.goto('/o/acme/');
    expect(new URL(page.url()).pathname, 'with the old cookie').to.equal('/login');
    expect(complaints.filter((complaint) => !complaint.includes('404'))).to.deep.equal([]);
  });

  it('makes a token as an owner, sees it come into force, and revokes it', async () => {
    await using _ = await startKeeper({ database, tokens }, provider);
    await using opened = await open(olga);
    const { page, complaints } = opened;
    await page.goto('/o/acme/settings/tokens');
    await page.getByRole('link', { name: /^Log in with/ }).click();
    await page.getByLabel('Name').fill('Invoice robot');
    await page.keyboard.press('Enter');
    const token = await page.locator('[data-token]').innerText();
    expect(token).to.match(/^rl_/);
    await until('the token', async () => {
      await tokens.source.refresh();
      return tokens.source.authenticate(token).status === 'known';
    });
    await page.getByText('In force: every ingest accepts it.').waitFor();
    await page.getByRole('link', { name: 'I have kept it' }).click();
    expect(await page.locator('main').innerText())
      .to.include(token.slice(-4))
      .and.not.include(token);
    await page.getByRole('link', { name: 'Invoice robot' }).click();
    await page.getByLabel(/^Type Invoice robot/).fill('Invoice robot');
    await page.getByRole('button', { name: 'Revoke the token' }).click();
    await until('its end', async () => {
      await tokens.source.refresh();
      return tokens.source.authenticate(token).status === 'unknown';
    });
    await page.getByRole('link', { name: 'Invoice robot' }).waitFor({ state: 'detached' });
    expect(complaints).to.deep.equal([]);
  });

  it('logs in with a read token', async () => {
    await using opened = await open();
    const { page, complaints } = opened;
    await page.goto('/');
    await page.getByLabel('Read token').fill(readToken('globex'));
    await page.getByRole('button', { name: 'Log in with the token' }).click();
    await page.waitForURL(`${address}/o/globex/`);
    expect(await page.getByRole('heading', { level: 1 }).innerText()).to.include('Overview');
    expect(complaints).to.deep.equal([]);
  });
});
