import { expect } from 'chai';
import { isLoggedIn, suiteLogin } from '../../support/login.ts';
import { OidcProvider } from '../../support/oidc-provider.ts';

const alice = { sub: 'alice', name: 'Alice', groups: ['acme-staff'] };

describe('people behind a proxy that logs them in', () => {
  let provider: OidcProvider;
  let token: string;
  before(async () => {
    provider = await OidcProvider.start();
    token = await provider.idToken(alice, 'runledger');
  });
  after(() => provider.stop());
  const suite = suiteLogin(() => {
    const { OIDC_ISSUER = '', OIDC_ORGANIZATIONS = '' } = provider.settings({ 'acme-staff': 'acme' });
    return { OIDC_ISSUER, OIDC_ORGANIZATIONS, OIDC_PROXY_AUDIENCE: 'runledger' };
  });
  const statusWith = async (headers: Record<string, string>): Promise<number> =>
    (await suite.browser().get('/login', headers)).status;

  it('are known by the id token of the proxy', async () => {
    expect(await statusWith({ authorization: `Bearer ${token}` })).to.equal(303);
  });

  it('have no login of the console itself', async () => {
    const page = await suite.browser().get('/login');
    expect(page.body).to.not.include('/login/oidc');
    expect((await suite.browser().get('/login/oidc')).status).to.equal(404);
  });

  it('are not believed by any other header', async () => {
    const names = ['x-forwarded-user', 'x-forwarded-email', 'x-auth-request-user', 'x-forwarded-groups', 'remote-user'];
    for (const name of names)
      expect(await statusWith({ [name]: 'alice', 'x-forwarded-groups': 'acme-staff' })).to.equal(200);
    const accessToken = { 'x-forwarded-access-token': token, 'x-auth-request-access-token': token };
    expect(await statusWith(accessToken)).to.equal(200);
    expect(await statusWith({ x_forwarded_user: 'alice' })).to.equal(200);
  });

  it('need a token for the proxy, not for another client of the provider', async () => {
    const forAnother = await provider.idToken(alice, 'other');
    expect(await statusWith({ authorization: `Bearer ${forAnother}` })).to.equal(200);
  });

  it('need a signature of the provider', async () => {
    const [header = '', payload = '', signature = ''] = token.split('.');
    const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
    const admin = encode({ ...claims, sub: 'mallory' });
    for (const forged of [
      `${header}.${admin}.${signature}`,
      `${encode({ alg: 'none' })}.${payload}.`,
      `${encode({ alg: 'HS256' })}.${payload}.${signature}`,
      `${header}.${payload}.`,
      'a.b.c',
      'token',
    ]) {
      expect(await statusWith({ authorization: `Bearer ${forged}` }), forged).to.equal(200);
    }
  });

  it('are told when none of their groups leads here, or there were too many', async () => {
    const without = await provider.idToken({ ...alice, groups: ['chess'] }, 'runledger');
    const answer = await suite.browser().get('/login', { authorization: `Bearer ${without}` });
    expect(answer.status).to.equal(403);
    expect(answer.body).to.include('No organization for you yet').and.to.include('Alice');
    const many = await provider.idToken({ sub: 'alice', name: 'Alice', hasgroups: true }, 'runledger');
    const overage = await suite.browser().get('/login', { authorization: `Bearer ${many}` });
    expect(overage.body).to.include('too many groups');
  });
});

describe('a console that no proxy is in front of', () => {
  let provider: OidcProvider;
  before(async () => {
    provider = await OidcProvider.start();
  });
  after(() => provider.stop());
  const suite = suiteLogin(() => provider.settings({ 'acme-staff': 'acme' }));

  it('takes no id token in a header', async () => {
    const token = await provider.idToken(alice, 'runledger');
    const answer = await suite.browser().get('/login', { authorization: `Bearer ${token}` });
    expect(answer.status).to.equal(200);
    expect(await isLoggedIn(suite.browser())).to.equal(false);
  });
});
