import { expect } from 'chai';
import { Browser } from '../../support/browser.ts';
import { startConsole } from '../../support/console.ts';
import { isLoggedIn, sessionCookie, suiteLogin } from '../../support/login.ts';
import { OidcProvider } from '../../support/oidc-provider.ts';
import { until } from '../../support/until.ts';

const groups = { 'acme-staff': 'acme', audit: ['acme', 'globex'], platform: '*' };
const alice = { sub: 'alice', name: 'Alice', groups: ['acme-staff', 'chess'] };

describe('login at an OpenID Connect provider', () => {
  let provider: OidcProvider;
  before(async () => {
    provider = await OidcProvider.start();
  });
  after(() => provider.stop());
  const suite = suiteLogin(() => provider.settings(groups));
  const sessions = () => suite.database.db.selectFrom('sessions').selectAll().execute();

  it('uses the code flow with PKCE, state and nonce, and leads back to the page that was asked for', async () => {
    const browser = suite.browser();
    const page = await browser.get('/login?to=%2Fo%2Facme%2Ferrors');
    expect(page.body).to.include(`href="/login/oidc?to=%2Fo%2Facme%2Ferrors"`).and.to.include('127.0.0.1');
    const begin = await browser.get('/login/oidc?to=%2Fo%2Facme%2Ferrors', { host: 'evil.example' });
    const asked = new URL(String(begin.headers.location)).searchParams;
    expect(Object.fromEntries(asked)).to.include({
      client_id: 'runledger',
      response_type: 'code',
      code_challenge_method: 'S256',
      // Of CONSOLE_PUBLIC_URL, not of Host.
      redirect_uri: 'https://console.example/login/callback',
    });
    for (const name of ['state', 'nonce', 'code_challenge']) expect(asked.get(name), name).to.have.length.at.least(43);
    const end = await browser.logIn(provider, alice, '/o/acme/errors');
    expect(end.status, end.body).to.equal(303);
    expect(end.headers.location).to.equal('https://console.example/o/acme/errors');
    expect(await isLoggedIn(browser)).to.equal(true);
    expect(browser.cookies.size).to.equal(1);
    expect(await sessions()).to.containSubset([
      { subject: `${provider.issuer}#alice`, name: 'Alice', groups: ['acme-staff'], token_digest: null },
    ]);
  });

  it('does nothing for HEAD, nor for a browser that preloads pages', async () => {
    const browser = suite.browser();
    const early = { 'sec-purpose': 'prefetch;prerender' };
    const path = await browser.authorize(provider, alice);
    const begun = new Map(browser.cookies);
    for (const preview of ['/login/oidc', path]) {
      expect((await browser.head(preview)).status, preview).to.equal(200);
      expect((await browser.get(preview, early)).status, preview).to.equal(503);
    }
    expect(browser.cookies).to.deep.equal(begun);
    expect((await browser.get(path)).status).to.equal(303);
    expect(await isLoggedIn(browser)).to.equal(true);
  });

  for (const [what, groups, sees] of [
    ['one organization', ['acme-staff', 'chess'], ['acme']],
    ['several organizations', ['audit'], ['acme', 'globex']],
    ['all organizations that have a token', ['platform'], ['acme', 'globex', 'initech']],
  ] as const) {
    it(`shows ${what} to a person whose groups lead there, and no other`, async () => {
      const browser = suite.browser();
      await browser.logIn(provider, { sub: 'dora', groups });
      for (const organization of ['acme', 'globex', 'initech', 'no-such']) {
        const answer = await browser.get(`/o/${organization}/executions`);
        expect(answer.status, organization).to.equal((sees as readonly string[]).includes(organization) ? 200 : 404);
      }
      const start = await browser.get('/');
      if (sees.length === 1) expect(start.headers.location).to.equal('/o/acme/');
      else for (const name of sees) expect(start.body).to.include(`href="/o/${name}/"`);
    });
  }

  it('finds groups at the userinfo endpoint too', async () => {
    const browser = suite.browser();
    await browser.logIn(provider, { sub: 'bob', atUserinfo: { groups: ['audit'] } });
    expect(await isLoggedIn(browser)).to.equal(true);
  });

  it('finds groups at a path of the userinfo endpoint, if the id token has another part of the path', async () => {
    const settings = { ...provider.settings(groups), OIDC_GROUPS_CLAIM: 'realm_access.roles' };
    await using console = await startConsole(suite.database.url, settings);
    const browser = new Browser(console.client);
    const account = { realm_access: { verified: true }, atUserinfo: { realm_access: { roles: ['audit'] } } };
    await browser.logIn(provider, { sub: 'eve', ...account });
    expect(await isLoggedIn(browser)).to.equal(true);
  });

  it('lets in people with a thousand groups: their session has no room in a cookie, and needs none', async () => {
    const many = Array.from({ length: 1_000 }, (_, index) => `a-group-with-a-long-name-${index}`);
    const browser = suite.browser();
    const answer = await browser.logIn(provider, { sub: 'busy', groups: [...many, 'platform'] });
    expect(answer.status).to.equal(303);
    expect(String(answer.headers['set-cookie']).length).to.be.lessThan(400);
    expect((await sessions())[0]?.groups).to.deep.equal(['platform']);
  });

  for (const [what, account, words] of [
    ['no group', { sub: 'carol', name: 'Carol' }, 'No organization for you yet'],
    ['groups that lead nowhere', { sub: 'carol', name: 'Carol', groups: ['chess'] }, 'No organization for you yet'],
    ['too many groups for a token (overage)', { sub: 'carol', name: 'Carol', hasgroups: true }, 'too many groups'],
  ] as const) {
    it(`shows nothing to a person with ${what}, and says so`, async () => {
      const browser = suite.browser();
      const answer = await browser.logIn(provider, account);
      expect(answer.status).to.equal(403);
      expect(answer.body).to.include(words).and.to.include('Carol');
      expect(browser.cookies.size).to.equal(0);
      expect(await sessions()).to.deep.equal([]);
    });
  }

  it('shows why the provider refused a person', async () => {
    const answer = await suite.browser().logIn(provider, 'nobody');
    expect(answer.status).to.equal(403);
    expect(answer.body).to.include('The login was refused').and.to.include('access_denied');
  });

  it('escapes the name of a person', async () => {
    const answer = await suite.browser().logIn(provider, { sub: 'x', name: '<script>alert(1)</script>' });
    expect(answer.body).to.include('&lt;script&gt;').and.to.not.include('<script>alert');
  });

  it('keeps a name in sessions and in the access log as a person sees it', async () => {
    const browser = suite.browser();
    await browser.logIn(provider, { ...alice, name: 'Alice\r\n\u202Emoc.elpmaxe' });
    await browser.get('/o/acme/executions');
    const entries = (): Promise<{ name: string }[]> =>
      suite.database.db.selectFrom('access_log').select('name').execute();
    const [entry] = await until('the entry', async () => {
      const found = await entries();
      return found.length > 0 && found;
    });
    expect(entry?.name).to.equal('Alice moc.elpmaxe');
    expect((await sessions())[0]?.name).to.equal('Alice moc.elpmaxe');
  });

  it('takes the answer of the provider once, and only in the browser that asked', async () => {
    const [browser, other] = [suite.browser(), suite.browser()];
    const callback = await browser.authorize(provider, alice);
    // An attacker's own login, planted in the browser of a victim.
    expect((await other.get(callback)).status).to.equal(400);
    await other.get('/login/oidc');
    expect((await other.get(callback)).status, 'with another state').to.equal(400);
    expect(other.cookies.has(sessionCookie)).to.equal(false);
    const kept = new Map(browser.cookies);
    expect((await browser.get(callback)).status).to.equal(303);
    for (const [name, value] of kept) browser.cookies.set(name, value);
    const again = await browser.get(callback);
    expect(again.status, 'a code that was used').to.equal(400);
    expect(again.body).to.include('not valid any more');
  });

  it('refuses an answer that was changed', async () => {
    const browser = suite.browser();
    const callback = await browser.authorize(provider, alice);
    for (const changed of [
      callback.replace(/code=[^&]+/, 'code=stolen'),
      callback.replace(/iss=[^&]+/, 'iss=https%3A%2F%2Fevil.example'),
      '/login/callback',
    ]) {
      const kept = new Map(browser.cookies);
      expect((await browser.get(changed)).status, changed).to.equal(400);
      for (const [name, value] of kept) browser.cookies.set(name, value);
    }
  });

  it('ends the sessions of a person everywhere', async () => {
    const [one, two] = [suite.browser(), suite.browser()];
    for (const browser of [one, two]) await browser.logIn(provider, alice);
    await one.post('/logout-everywhere');
    expect(await isLoggedIn(two)).to.equal(false);
  });
});
