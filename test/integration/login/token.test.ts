import { hash, randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { sql } from 'kysely';
import { OneTimeLink } from '../../../internal/login/one-time-link.ts';
import { Browser } from '../../support/browser.ts';
import { readToken, startConsole } from '../../support/console.ts';
import { isLoggedIn, sessionCookie, suiteLogin } from '../../support/login.ts';

describe('login with a read token', () => {
  const suite = suiteLogin();

  it('opens a session that only the browser can use', async () => {
    const browser = suite.browser();
    expect(await isLoggedIn(browser)).to.equal(false);
    const answer = await browser.post('/login', { token: ` ${readToken()} `, to: '/o/acme/executions?state=failed' });
    expect(answer.status).to.equal(303);
    expect(answer.headers.location).to.equal('https://console.example/o/acme/executions?state=failed');
    expect(answer.headers['cache-control']).to.equal('no-store');
    expect(answer.headers['set-cookie']).to.have.length(1);
    expect(answer.headers['set-cookie']?.[0]).to.match(
      /^__Host-runledger-session=[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Lax$/,
    );
    expect(await isLoggedIn(browser)).to.equal(true);
  });

  it('keeps the digest of the id, and neither id nor token', async () => {
    const browser = await suite.reader();
    const id = browser.cookies.get(sessionCookie) ?? '';
    const rows = await suite.database.db.selectFrom('sessions').selectAll().execute();
    expect(rows).to.have.length(1);
    expect(rows[0]).to.include({ subject: `token:${hash('sha256', readToken()).slice(0, 12)}`, organization: null });
    expect(Buffer.from(rows[0]?.digest ?? []).toString('hex')).to.equal(hash('sha256', id));
    const everything = JSON.stringify(rows);
    expect(everything).to.not.include(id).and.to.not.include(readToken());
  });

  it('takes a new id at each login, and ends the session that the browser had', async () => {
    const browser = suite.browser();
    const planted = 'A'.repeat(43);
    browser.cookies.set(sessionCookie, planted);
    await browser.post('/login', { token: readToken() });
    const first = browser.cookies.get(sessionCookie) ?? '';
    expect(first).to.not.equal(planted);
    await browser.post('/login', { token: readToken() });
    expect(browser.cookies.get(sessionCookie)).to.not.equal(first);
    for (const old of [planted, first]) {
      const other = suite.browser();
      other.cookies.set(sessionCookie, old);
      expect(await isLoggedIn(other)).to.equal(false);
    }
  });

  for (const [what, token, words] of [
    ['an unknown token', 'no such token', 'This token is not valid'],
    ['no token', '', 'This token is not valid'],
    ['a write token', 'write-token-of-acme', 'This is a write token'],
  ] as const) {
    it(`refuses ${what}, and says why`, async () => {
      const browser = suite.browser();
      const answer = await browser.post('/login', { token, to: '/o/acme' });
      expect(answer.status).to.equal(403);
      expect(answer.headers['content-type']).to.equal('text/html; charset=utf-8');
      expect(answer.body).to.include(words).and.to.include('name="to" value="/o/acme"').and.to.include('role="alert"');
      expect(browser.cookies.size).to.equal(0);
    });
  }

  it('ends the session when its token is revoked', async () => {
    const [acme, globex] = [await suite.reader('acme'), await suite.reader('globex')];
    await suite.tokens.keep('globex', 'initech');
    expect(await isLoggedIn(acme)).to.equal(false);
    expect(await isLoggedIn(globex)).to.equal(true);
  });

  it('delays the answers to many wrong tokens, and not those to right ones', async () => {
    const browser = suite.browser();
    const took = async (token: string): Promise<number> => {
      const begun = performance.now();
      await browser.post('/login', { token });
      return performance.now() - begun;
    };
    // The limiter counts by the second of the clock: in two such floods, one lies in one second.
    const times = await Promise.all(Array.from({ length: 300 }, () => took('wrong')));
    expect(Math.max(...times)).to.be.greaterThan(500);
    expect(await isLoggedIn(await suite.reader())).to.equal(true);
  });

  it('delays the answers to many ids that open no session', async () => {
    const took = async (): Promise<number> => {
      const browser = suite.browser();
      browser.cookies.set(sessionCookie, randomBytes(32).toString('base64url'));
      const begun = performance.now();
      await browser.get('/o/acme/');
      return performance.now() - begun;
    };
    const times = await Promise.all(Array.from({ length: 300 }, took));
    expect(Math.max(...times)).to.be.greaterThan(500);
  });

  it('takes no session of the one-time link of another process', async () => {
    const id = randomBytes(32).toString('base64url');
    const session = { subject: 'link:acme', name: 'link', groups: [], organization: 'acme' };
    const ends = { expires_at: new Date(Date.now() + 3_600_000) };
    await suite.database.db
      .insertInto('sessions')
      .values({ digest: hash('sha256', id, 'buffer'), ...session, ...ends })
      .execute();
    const browser = suite.browser();
    browser.cookies.set(sessionCookie, id);
    expect(await isLoggedIn(browser)).to.equal(false);
  });

  it('ends a session that is idle, or that began too long ago', async () => {
    const { db } = suite.database;
    const [idle, old, used] = [await suite.reader(), await suite.reader('globex'), await suite.reader('initech')];
    const change = (organization: string, what: string) =>
      sql`update sessions set ${sql.raw(what)} where token_digest = ${hash('sha256', readToken(organization))}`.execute(
        db,
      );
    await change('acme', `seen_at = now() - interval '121 minutes'`);
    await change('globex', `expires_at = now()`);
    await change('initech', `seen_at = now() - interval '119 minutes'`);
    expect(await isLoggedIn(idle)).to.equal(false);
    expect(await isLoggedIn(old)).to.equal(false);
    expect(await isLoggedIn(used)).to.equal(true);
    // Its use was noted.
    const { rows } = await sql`
      select from sessions where seen_at > now() - interval '1 minute' and expires_at > now()
    `.execute(db);
    expect(rows).to.have.length(1);
  });

  it('ends after SESSION_HOURS', async () => {
    await suite.reader();
    const { rows } = await sql<{ hours: string }>`
      select extract(epoch from expires_at - created_at) / 3600 as hours from sessions
    `.execute(suite.database.db);
    expect(Number(rows[0]?.hours)).to.be.closeTo(12, 0.01);
  });

  it('by a one-time link is not used up by HEAD, nor by a browser that preloads pages', async () => {
    const oneTimeLink = new OneTimeLink('acme');
    await using console = await startConsole(suite.database.url, {}, suite.tokens.source, undefined, undefined, {
      oneTimeLink,
    });
    const browser = new Browser(console.client);
    const path = `/once/${oneTimeLink.secret}`;
    expect((await browser.head(path)).status).to.equal(200);
    for (const name of ['sec-purpose', 'purpose']) {
      expect((await browser.get(path, { [name]: 'prefetch' })).status).to.equal(503);
    }
    expect(browser.cookies.size).to.equal(0);
    expect((await browser.get(path)).status).to.equal(303);
    expect(await isLoggedIn(browser)).to.equal(true);
    expect((await new Browser(console.client).get(path)).status).to.equal(410);
  });
});
