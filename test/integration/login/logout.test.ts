import { expect } from 'chai';
import { isLoggedIn, sessionCookie, suiteLogin } from '../../support/login.ts';

describe('logout', () => {
  const suite = suiteLogin();

  it('ends the session: a copy of the cookie is worth nothing afterwards', async () => {
    const browser = await suite.reader();
    const thief = suite.browser();
    thief.cookies.set(sessionCookie, browser.cookies.get(sessionCookie) ?? '');
    expect(await isLoggedIn(thief)).to.equal(true);
    const answer = await browser.post('/logout');
    expect(answer.status).to.equal(303);
    expect(answer.headers.location).to.equal('https://console.example/login');
    expect(browser.cookies.size).to.equal(0);
    expect(await isLoggedIn(thief)).to.equal(false);
  });

  it('ends one session only; logout everywhere ends all of the same person or token', async () => {
    const [one, two, three] = [await suite.reader(), await suite.reader(), await suite.reader()];
    const other = await suite.reader('globex');
    await one.post('/logout');
    expect(await isLoggedIn(two)).to.equal(true);
    await two.post('/logout-everywhere');
    expect(await isLoggedIn(three)).to.equal(false);
    expect(await isLoggedIn(other)).to.equal(true);
  });

  for (const [what, headers] of [
    ['of another site', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }],
    ['of another host of the same domain', { 'sec-fetch-site': 'same-site', origin: 'https://other.example' }],
    ['of another site, in an old browser', { 'sec-fetch-site': undefined, origin: 'https://evil.example' }],
    ['of a page without an origin', { 'sec-fetch-site': undefined, origin: 'null' }],
    ['that does not say where it comes from', { 'sec-fetch-site': undefined }],
  ] as const) {
    it(`takes no form ${what}`, async () => {
      const browser = await suite.reader();
      for (const path of ['/logout', '/logout-everywhere']) {
        const answer = await browser.post(path, {}, headers);
        expect(answer.status, path).to.equal(403);
        expect(answer.body).to.include('did not come from this console');
      }
      expect(await isLoggedIn(browser)).to.equal(true);
    });

    it(`logs nobody in with a form ${what}`, async () => {
      const browser = suite.browser();
      const answer = await browser.post('/login', { token: 'read-token-of-acme' }, headers);
      expect(answer.status).to.equal(403);
      expect(answer.headers).to.not.have.property('set-cookie');
    });
  }

  it('takes a form of its own page from a browser that sends Origin only', async () => {
    const browser = await suite.reader();
    const headers = { 'sec-fetch-site': undefined, origin: 'https://console.example' };
    expect((await browser.post('/logout', {}, headers)).status).to.equal(303);
  });

  it('is no link: GET does not log out', async () => {
    const browser = await suite.reader();
    for (const path of ['/logout', '/logout-everywhere']) expect((await browser.get(path)).status).to.equal(405);
    expect(await isLoggedIn(browser)).to.equal(true);
  });
});
