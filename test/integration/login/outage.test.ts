import { expect } from 'chai';
import { isLoggedIn, suiteLogin } from '../../support/login.ts';
import { OidcProvider } from '../../support/oidc-provider.ts';
import { until } from '../../support/until.ts';

const alice = { sub: 'alice', groups: ['acme-staff'] };

describe('login while the provider is unavailable', () => {
  let provider: OidcProvider;
  beforeEach(async () => {
    provider = await OidcProvider.create();
  });
  afterEach(() => provider.stop());
  const suite = suiteLogin(() => provider.settings({ 'acme-staff': 'acme' }));

  it('says so with 503, takes read tokens, and finds the provider once it is there', async () => {
    const browser = suite.browser();
    const answer = await browser.get('/login/oidc');
    expect(answer.status).to.equal(503);
    expect(answer.headers['retry-after']).to.equal('5');
    expect(answer.body).to.include('The login service does not answer');
    expect(await isLoggedIn(await suite.reader())).to.equal(true);

    await provider.startAgain();
    let unavailable = 1;
    await until('a provider that answers again', async () => {
      const { status } = await suite.browser().get('/login/oidc');
      if (status === 503) unavailable += 1;
      return status === 303;
    });
    expect((await browser.logIn(provider, alice)).status).to.equal(303);
    const late = suite.browser();
    const callback = await late.authorize(provider, alice);
    await provider.stop();
    const ended = await late.get(callback);
    expect(ended.status).to.equal(503);
    expect(ended.body).to.include('The login service does not answer');
    expect(await isLoggedIn(browser), 'who is logged in already').to.equal(true);

    const metrics = await suite.console.telemetry.registry.metrics();
    const counted = `runledger_logins_total{way="oidc",result="unavailable",process="console"} ${unavailable + 1}\n`;
    expect(metrics).to.include(counted);
    expect(metrics).to.match(/runledger_logins_total\{way="oidc",result="ok",process="console"\} 1/);
  });
});
