import { expect } from 'chai';
import { Browser } from '../../support/browser.ts';
import { startConsole } from '../../support/console.ts';
import { suiteLogin } from '../../support/login.ts';
import { OwnProvider } from '../../support/own-provider.ts';

/** What a login that this console has begun, and one that somebody made up, send. */
const madeUp = { state: 's'.repeat(43), nonce: 'n'.repeat(43), verifier: 'v'.repeat(43), to: '/' };

describe('what callers make the console ask the provider', () => {
  let provider: OwnProvider;
  before(async () => {
    provider = await OwnProvider.start();
  });
  after(() => provider[Symbol.asyncDispose]());
  beforeEach(() => {
    provider.requests.clear();
    provider.failing = false;
    provider.claims = {};
  });
  const settings = (): Record<string, string> => ({
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: 'runledger',
    OIDC_ORGANIZATIONS: JSON.stringify({ staff: 'acme' }),
    OIDC_PROXY_AUDIENCE: 'runledger',
  });
  const suite = suiteLogin(settings);

  /** The status of a callback for the browser's login, from an address. */
  const callback = async (browser: Browser, state: string, from = '192.0.2.1'): Promise<number> => {
    const kept = new Map(browser.cookies);
    const answer = await browser.get(`/login/callback?code=c&state=${state}`, {
      'x-forwarded-for': `1.1.1.1, ${from}`,
    });
    for (const [name, value] of kept) browser.cookies.set(name, value);
    return answer.status;
  };
  const begin = async (browser: Browser): Promise<string> => {
    const { headers } = await browser.get('/login/oidc');
    return new URL(String(headers.location)).searchParams.get('state') ?? '';
  };

  it('is nothing for a cookie and a state that the caller made', async () => {
    const browser = suite.browser();
    const text = JSON.stringify({ ...madeUp, endsAt: Date.now() + 60_000 });
    browser.cookies.set('__Host-runledger-login', Buffer.from(text).toString('base64url'));
    for (let index = 0; index < 30; index += 1) expect(await callback(browser, madeUp.state)).to.equal(400);
    expect(provider.count('/token')).to.equal(0);
  });

  it('is nothing for a cookie of ours that was changed', async () => {
    const browser = suite.browser();
    const state = await begin(browser);
    const [name = '', value = ''] = [...browser.cookies][0] ?? [];
    browser.cookies.set(name, `${value.slice(0, -3)}${value.endsWith('AAA') ? 'BBB' : 'AAA'}`);
    expect(await callback(browser, state)).to.equal(400);
    expect(provider.count('/token')).to.equal(0);
  });

  it('is 20 codes a minute for an address, at once or not, and no other address waits', async () => {
    const browser = suite.browser();
    const state = await begin(browser);
    const statuses = await Promise.all(Array.from({ length: 50 }, () => callback(browser, state)));
    expect(statuses.filter((status) => status === 429)).to.have.length(30);
    expect(provider.count('/token')).to.equal(20);
    const elsewhere = suite.browser();
    expect(await callback(elsewhere, await begin(elsewhere), '192.0.2.2')).to.equal(400);
    expect(provider.count('/token')).to.equal(21);
  });

  it('leaves the cookie to those who must wait', async () => {
    const browser = suite.browser();
    const state = await begin(browser);
    for (let index = 0; index < 20; index += 1) await callback(browser, state);
    const answer = await browser.get(`/login/callback?code=c&state=${state}`, { 'x-forwarded-for': '192.0.2.1' });
    expect(answer.status).to.equal(429);
    expect(Number(answer.headers['retry-after'])).to.be.within(1, 60);
    expect(browser.cookies.has('__Host-runledger-login')).to.equal(true);
  });

  it('lets another console of the same database end the login', async () => {
    await using other = await startConsole(suite.database.url, settings(), suite.tokens.source);
    const browser = suite.browser();
    const state = await begin(browser);
    const elsewhere = new Browser(other.client);
    for (const [name, value] of browser.cookies) elsewhere.cookies.set(name, value);
    await elsewhere.get(`/login/callback?code=c&state=${state}`);
    expect(provider.count('/token')).to.equal(1);
  });

  it('is one question a second while the provider fails', async () => {
    provider.failing = true;
    const statuses = [];
    for (let index = 0; index < 20; index += 1) statuses.push((await suite.browser().get('/login/oidc')).status);
    expect(new Set(statuses)).to.deep.equal(new Set([503]));
    // A slow machine may need more than a second for them.
    expect(provider.count('/.well-known/openid-configuration')).to.be.below(10);
  });

  it('is one request for its keys, whatever tokens they send', async () => {
    const valid = await provider.idToken();
    for (let index = 0; index < 20; index += 1) {
      const authorization = `Bearer ${valid.slice(0, -6)}${String(index).padStart(6, 'A')}`;
      await suite.browser().get('/login', { authorization });
    }
    expect(provider.count('/jwks')).to.equal(1);
  });
});
