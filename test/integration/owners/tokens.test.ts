import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { sql } from 'kysely';
import { FileTokenWriter } from '../../../internal/cluster/tokens/file-token-writer.ts';
import type { TokenWriter } from '../../../internal/cluster/tokens/token-writer.ts';
import { ProofKey } from '../../../internal/cluster/tokens/sealed-proof.ts';
import { digestOf } from '../../../internal/cluster/tokens/token-entry.ts';
import { readAct } from '../../../internal/ledger/act.ts';
import { actKeyOf } from '../../../internal/ledger/mac.ts';
import { listActs } from '../../../internal/record/ledger.ts';
import type { Browser } from '../../support/browser.ts';
import { suiteLogin } from '../../support/login.ts';
import { OidcProvider } from '../../support/oidc-provider.ts';
import {
  answered,
  formOf,
  gus,
  keyOf,
  manage,
  olga,
  rita,
  roles,
  sealedRequest,
  shownToken,
  startKeeper,
} from '../../support/owners.ts';
import { OwnProvider } from '../../support/own-provider.ts';
import { findingsOf, runVerify } from '../../support/run-verify.ts';
import { macKey, seal } from '../../support/sealed-ledger.ts';
import { until } from '../../support/until.ts';

const page = '/o/acme/settings/tokens';

describe('tokens that owners make in the console', () => {
  let provider: OidcProvider;
  before(async () => {
    provider = await OidcProvider.start();
  });
  after(() => provider.stop());
  const suite = suiteLogin(() => provider.settings(roles));
  before(async () => {
    // Opens the connections that the suite keeps.
    await Promise.all(Array.from({ length: 10 }, () => sql`select pg_sleep(0.1)`.execute(suite.database.db)));
  });
  beforeEach(async () => {
    for (const table of ['token_requests', 'tokens'] as const) await suite.database.db.deleteFrom(table).execute();
    await suite.database.db.updateTable('token_keeper').set({ until: null }).execute();
  });
  const owner = async (account: Parameters<Browser['logIn']>[1] = olga): Promise<Browser> => {
    const browser = suite.browser();
    await browser.logIn(provider, account);
    return browser;
  };
  const keeping = async () => {
    const keeper = await startKeeper(suite, provider);
    const turn = suite.database.db.selectFrom('token_keeper').select('holder').where('until', 'is not', null);
    await until('a turn', async () => (await turn.execute()).length > 0);
    return keeper;
  };
  const issue = async (browser: Browser, name = 'Invoice robot', kind = 'write') =>
    browser.post(page, { ...(await formOf(browser, page)), name, kind });
  const known = (token: string) => suite.tokens.source.authenticate(token);

  it('are shown once, put in force by the controller, and kept nowhere', async () => {
    await using keeper = await keeping();
    const browser = await owner();
    const answer = await issue(browser);
    const token = shownToken(answer);
    expect(answer.status).to.equal(200);
    expect(answer.headers['cache-control']).to.equal('no-store');
    expect(answer.headers['content-encoding']).to.equal(undefined);
    expect(token).to.match(/^rl_[\w-]{43}$/);
    expect(answer.body).to.include(`-H &quot;token: ${token}&quot;`).and.to.include('Being set up');
    await answered(suite);
    expect(known(token)).to.include({ status: 'known', organization: 'acme', scope: 'write' });
    const state = await browser.get(`${page}/${digestOf(token).slice(0, 12)}/state`);
    expect(state.body).to.include('In force');
    const list = await browser.get(page);
    for (const text of ['Invoice robot', token.slice(-4), 'by <bdi>Olga</bdi>']) expect(list.body).to.include(text);
    expect(list.body, 'one that was applied').to.include(digestOf('write-token-of-acme').slice(0, 12));

    const file = await readFile(suite.tokens.path, 'utf8');
    const rows = await Promise.all(
      ['tokens', 'token_requests', 'sessions', 'access_log'].map((table) =>
        sql`select to_jsonb(t)::text as row from ${sql.table(table)} t`.execute(suite.database.db),
      ),
    );
    const kept = JSON.stringify([rows, keeper.records]);
    for (const place of [file, kept, list.body]) expect(place).to.not.include(token);
    expect(kept, 'id tokens').to.not.match(/eyJ[\w-]+\.eyJ/);
    expect(keeper.records.map(({ message }) => message)).to.deep.equal(['request about a token done']);
    await suite.console.stop();
    const acts = suite.database.db.selectFrom('access_log').select(['name', 'action', 'detail', 'organization']);
    expect(await acts.where('action', '=', 'issued').execute()).to.deep.equal([
      { name: 'Olga', action: 'issued', detail: 'write token Invoice robot', organization: 'acme' },
    ]);
  });

  it('are rotated: the old one stays in force for the time that was chosen', async () => {
    await using _ = await keeping();
    const browser = await owner();
    const first = shownToken(await issue(browser));
    await answered(suite);
    const place = `${page}/${digestOf(first).slice(0, 12)}`;
    const rotate = async (from: string, hours: string) =>
      shownToken(await browser.post(`${from}/rotate`, { ...(await formOf(browser, from, `${from}/rotate`)), hours }));
    const second = await rotate(place, '24');
    await answered(suite);
    for (const token of [first, second]) expect(known(token)).to.include({ status: 'known', organization: 'acme' });
    expect((await browser.get(page)).body).to.match(/in force <small class="quiet">until \d{4}-/);
    const third = await rotate(`${page}/${digestOf(second).slice(0, 12)}`, '0');
    await answered(suite);
    await until('the end of the second', async () => {
      await suite.tokens.source.refresh();
      return known(second).status === 'unknown';
    });
    for (const token of [first, third]) expect(known(token).status).to.equal('known');
  });

  it('are revoked after their name was typed, also one that kubectl applied', async () => {
    await using _ = await keeping();
    const browser = await owner();
    const token = shownToken(await issue(browser));
    await answered(suite);
    for (const [given, name] of [
      [token, 'Invoice robot'],
      ['write-token-of-acme', digestOf('write-token-of-acme').slice(0, 12)],
    ] as const) {
      const place = `${page}/${digestOf(given).slice(0, 12)}`;
      const fields = await formOf(browser, place, `${place}/revoke`);
      expect((await browser.post(`${place}/revoke`, { ...fields, confirm: 'another' })).status).to.equal(400);
      expect((await browser.post(`${place}/revoke`, { ...fields, confirm: name })).status).to.equal(303);
      await answered(suite);
      expect(known(given)).to.deep.equal({ status: 'unknown' });
    }
    expect(known('read-token-of-acme').status, 'another token of the same file').to.equal('known');
    expect(known('write-token-of-globex').status, 'of another organization').to.equal('known');
  });

  it('are in the log of their organization: who issued, rotated and revoked which', async () => {
    const { db, url } = suite.database;
    const file = new FileTokenWriter(suite.tokens.path);
    let fails = true;
    // The first attempt to issue a token fails after its act was written.
    const writer: TokenWriter = {
      read: (...given) => file.read(...given),
      problem: () => file.problem(),
      write: (...given) =>
        (fails ? Promise.reject(new Error('no')) : file.write(...given)).finally(() => (fails = false)),
    };
    await using _ = await startKeeper(suite, provider, writer, actKeyOf(macKey));
    const browser = await owner();
    const first = shownToken(await issue(browser));
    await answered(suite);
    const place = `${page}/${digestOf(first).slice(0, 12)}`;
    const rotated = { ...(await formOf(browser, place, `${place}/rotate`)), hours: '24' };
    const second = shownToken(await browser.post(`${place}/rotate`, rotated));
    await answered(suite);
    await browser.post(`${place}/revoke`, {
      ...(await formOf(browser, place, `${place}/revoke`)),
      confirm: 'Invoice robot',
    });
    await answered(suite);
    await seal(db);
    const acts = (await listActs(db, 'acme')).map(readAct);
    expect(acts.map(({ kind, by, details }) => [kind, by, details['token']])).to.have.deep.members([
      ['token-issued', 'Olga', digestOf(first).slice(0, 12)],
      ['token-issued', 'Olga', digestOf(second).slice(0, 12)],
      ['token-expires', 'Olga', digestOf(first).slice(0, 12)],
      ['token-revoked', 'Olga', digestOf(first).slice(0, 12)],
    ]);
    expect((await runVerify(url, [])).stdout).to.contain(
      '\nIn the log: acts: 1 token-expires, 1 token-revoked, 2 token-issued.\n',
    );
    await sql`update log_acts set act = replace(act, 'Olga', 'Rita') where act like '%revoked%'`.execute(db);
    expect(findingsOf(await runVerify(url, []))).to.match(/^The act \S+ is not the one that the log has\.\n$/);
  });

  it('of a new organization are made by those who administer all', async () => {
    await using _ = await keeping();
    const browser = await owner({ sub: 'pia', name: 'Pia', groups: ['platform'] });
    const choice = await browser.get('/?choose', { accept: 'text/html' });
    expect(choice.body).to.include('Create an organization');
    const begun = await browser.get('/organizations?name=umbrella');
    expect(begun.headers.location).to.equal('/o/umbrella/settings/tokens');
    const path = '/o/umbrella/settings/tokens';
    const token = shownToken(
      await browser.post(path, { ...(await formOf(browser, path)), name: 'first', kind: 'write' }),
    );
    await answered(suite);
    expect(known(token)).to.include({ status: 'known', organization: 'umbrella' });
    const other = await owner();
    expect((await other.get('/organizations?name=umbrella')).status).to.equal(403);
    expect((await other.get(path)).status).to.equal(404);
  });

  const routes = [
    ['GET', page],
    ['POST', page],
    ['GET', `${page}/0123456789ab`],
    ['GET', `${page}/0123456789ab/state`],
    ['POST', `${page}/0123456789ab/rotate`],
    ['POST', `${page}/0123456789ab/revoke`],
    ['GET', '/o/acme/settings/activity'],
  ] as const;

  it('are out of reach for readers, owners of other organizations, and strangers', async () => {
    const reader = await owner(rita);
    const byToken = await suite.reader();
    const [foreign, stranger] = [await owner(gus), suite.browser()];
    const form = { form: crypto.randomUUID(), name: 'x', kind: 'write', hours: '24', confirm: 'x' };
    const send = (browser: Browser, method: 'GET' | 'POST', path: string) =>
      method === 'GET' ? browser.get(path, { accept: 'application/json' }) : browser.post(path, form);
    for (const [method, path] of routes) {
      for (const browser of [reader, byToken]) expect((await send(browser, method, path)).status, path).to.equal(403);
      expect((await send(foreign, method, path)).status, path).to.equal(404);
      expect((await send(stranger, method, path)).status, path).to.be.oneOf([302, 401]);
    }
    for (const browser of [reader, byToken]) expect((await browser.get('/o/acme/')).body).to.not.include('/settings/');
    expect(await suite.database.db.selectFrom('token_requests').selectAll().execute()).to.deep.equal([]);
  });

  it('cannot be made by another site, twice with one form, or after an old login', async () => {
    await using _ = await keeping();
    const browser = await owner();
    const fields = { ...(await formOf(browser, page)), name: 'robot', kind: 'write' };
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': '', origin: 'https://evil.example' },
    ]) {
      expect((await browser.post(page, fields, headers)).status).to.equal(403);
    }
    expect(shownToken(await browser.post(page, fields))).to.not.equal('');
    const again = await browser.post(page, fields);
    expect([again.status, shownToken(again)]).to.deep.equal([400, '']);
    await answered(suite);
    await suite.database.db
      .updateTable('sessions')
      .set({ created_at: sql<Date>`now() - interval '61 minutes'` })
      .execute();
    expect((await browser.post(page, { ...fields, form: crypto.randomUUID() })).status).to.equal(403);
    expect((await browser.get(page, { accept: 'text/html' })).body)
      .to.include('/login/oidc?to=')
      .and.to.include('Log in again');
    expect(await suite.database.db.selectFrom('token_requests').select('id').execute()).to.have.length(1);
  });

  it('cannot be made by somebody who writes into Postgres: the controller trusts no console', async () => {
    await using own = await OwnProvider.start();
    const old = Math.floor(Date.now() / 1_000) - 3_700;
    await using keeper = await startKeeper(suite, provider);
    const [other, good] = ['other', 'runledger'] as const;
    const proofs: [string, string, RegExp][] = [
      ['no JWT', 'owner', /not valid/],
      ['of another client', await provider.idToken(olga, other), /not valid/],
      ['of another provider', await own.idToken({ groups: ['acme-owners'] }), /not valid/],
      ['of a reader', await provider.idToken(rita, good), /None of the groups/],
      ['of the owner of another organization', await provider.idToken(gus, good), /None of the groups/],
      ['without groups', await provider.idToken({ sub: 'olga' }, good), /no claim groups/],
      [
        'changed',
        (await provider.idToken(rita, good)).replace(
          /\.[\w-]+\./,
          (await provider.idToken(olga, good)).match(/\.[\w-]+\./)?.[0] ?? '',
        ),
        /not valid/,
      ],
      [
        'unsigned',
        `${btoa('{"alg":"none"}')}.${btoa(JSON.stringify({ iss: provider.issuer, aud: 'runledger', sub: 'o', groups: ['acme-owners'], iat: old + 3_600, exp: old + 9_000 }))}.`.replaceAll(
          '=',
          '',
        ),
        /not valid/,
      ],
    ];
    const owned = { idToken: await provider.idToken(olga, good) };
    const key = await keyOf(suite);
    const elsewhere = await ProofKey.make();
    const sealed = await Promise.all(
      proofs.map(async ([name, idToken, words]) => ({ words, ...(await sealedRequest(key, name, { idToken })) })),
    );
    const [foreign, copied, honest] = await Promise.all([
      sealedRequest(elsewhere.publicKey, 'sealed for another controller', owned),
      sealedRequest(key, 'a copy of the proof of another request', owned),
      sealedRequest(key, 'its request', owned),
    ]);
    const written = [
      ...sealed,
      { ...foreign, words: /not sealed for this controller/ },
      { ...copied, proof: honest.proof, words: /not sealed for this controller/ },
      { ...copied, id: crypto.randomUUID(), name: 'with another id', words: /not sealed for this controller/ },
      { ...copied, id: crypto.randomUUID(), name: 'none', proof: null, words: /^Nobody has signed/ },
      { ...copied, id: crypto.randomUUID(), name: 'an id token', proof: owned.idToken, words: /not sealed/ },
    ];
    const rows = written.map(({ words: _words, ...row }) => row);
    await suite.database.db.insertInto('token_requests').values(rows).execute();
    await answered(suite);
    for (const { name, digest, words } of written) {
      expect(suite.tokens.source.authenticateDigest(digest), name).to.deep.equal({ status: 'unknown' });
      const row = suite.database.db.selectFrom('token_requests').selectAll().where('name', '=', name);
      const { error, proof } = await row.executeTakeFirstOrThrow();
      expect(error, name).to.match(words);
      expect(proof).to.equal(null);
    }
    expect(keeper.records).to.have.length(written.length);
  });

  it('of an organization that cannot be written hold up no other, nor its own revocations', async () => {
    const writer: TokenWriter = new FileTokenWriter(suite.tokens.path);
    const refusing: TokenWriter = {
      read: (organization) => writer.read(organization),
      problem: () => writer.problem(),
      write: (organization, change) =>
        organization === 'globex' && 'set' in change
          ? Promise.reject(new Error('the API server answered 422: the Secret is too long'))
          : writer.write(organization, change),
    };
    await using _ = await startKeeper(suite, provider, refusing);
    const key = await keyOf(suite);
    const own = { idToken: await provider.idToken(gus, 'runledger') };
    const refused = Array.from({ length: 100 }, (_, at) =>
      sealedRequest(key, `stuck ${at}`, own, { organization: 'globex' }),
    );
    const { db } = suite.database;
    await db
      .insertInto('token_requests')
      .values(await Promise.all(refused))
      .execute();
    const isStuck = db.selectFrom('token_requests').select('id').where('error', 'like', '%too long%');
    await until('the controller has tried some of them', async () => (await isStuck.execute()).length >= 8);

    const browser = await owner();
    const token = shownToken(await issue(browser, 'Pipeline', 'write'));
    await until('its token is in force', async () => {
      await suite.tokens.source.refresh();
      return known(token).status === 'known';
    });
    const old = { act: 'revoke' as const, organization: 'globex', digest: digestOf('read-token-of-globex') };
    await db
      .insertInto('token_requests')
      .values(await sealedRequest(key, 'leaked', own, old))
      .execute();
    await until('the revocation', async () => {
      await suite.tokens.source.refresh();
      return known('read-token-of-globex').status === 'unknown';
    });
    expect((await isStuck.execute()).length).to.be.above(7);
  });

  it('are refused while a hundred of the organization wait', async () => {
    const failing: TokenWriter = {
      read: () => Promise.resolve([]),
      write: () => Promise.reject(new Error('the API server answered 422')),
      problem: () => Promise.resolve(undefined),
    };
    await using _ = await startKeeper(suite, provider, failing);
    const key = await keyOf(suite);
    const own = { idToken: await provider.idToken(olga, 'runledger') };
    const rows = await Promise.all(Array.from({ length: 100 }, (_, at) => sealedRequest(key, `waits ${at}`, own)));
    await suite.database.db.insertInto('token_requests').values(rows).execute();
    const { status, headers, body } = await manage(suite, 'POST', '/v1/tokens/', { kind: 'write', name: 'one more' });
    expect([status, headers['retry-after']]).to.deep.equal([429, '1']);
    expect(body).to.include('100 requests about tokens of this organization wait already');
  });

  it('need an id token of the last hour, which may have expired since', async () => {
    await using own = await OwnProvider.start();
    await using _ = await startKeeper(suite, own);
    const now = Math.floor(Date.now() / 1_000);
    const make = async (age: number): Promise<string | undefined> => {
      const idToken = await own.idToken({ groups: ['acme-owners'], iat: now - age, exp: now - age + 60 });
      const request = await sealedRequest(await keyOf(suite), `of ${age} s ago`, { idToken });
      await suite.database.db.insertInto('token_requests').values(request).execute();
      await answered(suite);
      const row = suite.database.db.selectFrom('token_requests').select('error').where('id', '=', request.id);
      return (await row.executeTakeFirstOrThrow()).error ?? undefined;
    };
    expect(await make(3_700)).to.match(/older than an hour/);
    expect(await make(3_000)).to.equal(undefined);
    expect(await make(-600)).to.match(/not valid/);
  });

  it('are made, rotated and revoked over the API with a manage token, which the controller checks itself', async () => {
    await using keeper = await keeping();
    const api = (...request: Parameters<typeof manage> extends [unknown, ...infer Rest] ? Rest : never) =>
      manage(suite, ...request);
    const made = await api('POST', '/v1/tokens/', { kind: 'write', name: 'Pipeline' });
    const { id, token = '', ...shown } = made.json<{ id: string; token?: string }>();
    expect([made.status, made.headers['cache-control']]).to.deep.equal([201, 'no-store']);
    expect(shown).to.include({ kind: 'write', name: 'Pipeline', last_four: token.slice(-4), error: null });
    await answered(suite);
    expect(known(token)).to.include({ status: 'known', organization: 'acme', scope: 'write' });
    const one = (await api('GET', `/v1/tokens/${id}/`)).json<{ state: string; made_by: string }>();
    expect(one.state).to.equal('in force');
    expect(one.made_by).to.equal(`manage token ${digestOf('manage-token-of-acme').slice(0, 12)}`);

    const own = 'a-token-of-a-terraform-provider';
    const byDigest = { kind: 'read', name: 'Terraform', digest: digestOf(own), last_four: 'ider' };
    const issued = await api('POST', '/v1/tokens/', byDigest);
    expect([issued.status, issued.json()['token']]).to.deep.equal([201, null]);
    await answered(suite);
    expect(known(own)).to.include({ status: 'known', scope: 'read' });
    expect((await api('POST', '/v1/tokens/', byDigest)).status, 'the same again').to.equal(200);
    const taken = await api('POST', '/v1/tokens/', { ...byDigest, kind: 'write' });
    expect(taken.json<{ errors: object[] }>().errors[0]).to.include({ pointer: '/digest' });
    const foreign = { ...byDigest, digest: digestOf('read-token-of-globex') };
    expect((await api('POST', '/v1/tokens/', foreign)).status).to.equal(400);

    const rotated = await api('POST', `/v1/tokens/${id}/rotate/`, { overlap_seconds: 0 });
    const next = rotated.json<{ token: string }>().token;
    await answered(suite);
    await until('the end of the first', async () => {
      await suite.tokens.source.refresh();
      return known(token).status === 'unknown';
    });
    expect(known(next).status).to.equal('known');
    expect((await api('DELETE', `/v1/tokens/${digestOf(next).slice(0, 12)}/`)).status).to.equal(202);
    await answered(suite);
    expect(known(next).status).to.equal('unknown');
    const list = (await api('GET', '/v1/tokens/')).json<{ items: { name: string | null }[] }>();
    expect(list.items.map(({ name }) => name))
      .to.include('Terraform')
      .and.to.not.include('Pipeline');

    const key = { 'idempotency-key': crypto.randomUUID() };
    const twice = [1, 2].map(() => api('POST', '/v1/tokens/', { kind: 'ping', name: 'Cron' }, key));
    expect((await Promise.all(twice)).map(({ status }) => status)).to.have.members([201, 422]);
    await answered(suite);
    const rows = await sql`select to_jsonb(t)::text as row from token_requests t`.execute(suite.database.db);
    for (const text of ['manage-token-of-acme', token, next]) {
      expect(JSON.stringify([rows, keeper.records])).to.not.include(text);
    }
    await suite.console.stop();
    const acts = suite.database.db.selectFrom('access_log').select(['action', 'detail']).orderBy('id');
    expect((await acts.where('action', '!=', 'looked').execute()).map((act) => Object.values(act))).to.deep.equal([
      ['issued', 'write token Pipeline'],
      ['issued', 'read token Terraform'],
      ['rotated', 'write token Pipeline'],
      ['revoked', 'write token Pipeline'],
      ['issued', 'ping token Cron'],
    ]);
  });

  it('of scope manage are made by an owner only: such a token makes itself no successor', async () => {
    await using _ = await keeping();
    const id = digestOf('manage-token-of-acme').slice(0, 12);
    for (const [method, path, body] of [
      ['POST', '/v1/tokens/', { kind: 'manage', name: 'another' }],
      ['POST', `/v1/tokens/${id}/rotate/`, {}],
      ['DELETE', `/v1/tokens/${id}/`, undefined],
    ] as const) {
      expect((await manage(suite, method, path, body)).status, `${method} ${path}`).to.equal(403);
    }
    const key = await keyOf(suite);
    const own = { manageToken: 'manage-token-of-acme' };
    const written = await Promise.all([
      sealedRequest(key, 'a successor', own, { kind: 'manage' }),
      sealedRequest(key, 'its end', own, { act: 'revoke', digest: digestOf('manage-token-of-acme') }),
      sealedRequest(key, 'of another organization', { manageToken: 'manage-token-of-globex' }),
      sealedRequest(key, 'no manage token', { manageToken: 'read-token-of-acme' }),
    ]);
    await suite.database.db.insertInto('token_requests').values(written).execute();
    await answered(suite);
    const errors = suite.database.db.selectFrom('token_requests').select(['name', 'error']);
    const of = (await errors.execute()).map(({ name, error }) => [name, error?.split(' ')[0]] as const);
    expect(Object.fromEntries(of)).to.deep.equal({
      'a successor': 'Only',
      'its end': 'Only',
      'of another organization': 'The',
      'no manage token': 'The',
    });
    expect(known('manage-token-of-acme').status).to.equal('known');
    const browser = await owner();
    const token = shownToken(await issue(browser, 'Pipeline', 'manage'));
    expect(token).to.match(/^rlm_/);
    await answered(suite);
    expect(known(token)).to.include({ status: 'known', scope: 'manage' });
    const faulty = await manage(suite, 'POST', '/v1/tokens/', { kind: 'all', digest: 'x', colour: 1 }, { token });
    const { errors: faults } = faulty.json<{ errors: { pointer: string }[] }>();
    expect(faults.map(({ pointer }) => pointer)).to.deep.equal(['/kind', '/name', '/digest', '/colour']);
  });

  it('cannot be changed if the file cannot be written or no controller runs: the page shows the command', async () => {
    const browser = await owner();
    expect((await browser.get(page)).body)
      .to.include('No controller that writes tokens is running')
      .and.to.not.include('Make a token');
    const writer = {
      read: () => Promise.resolve([]),
      write: () => Promise.reject(new Error('no')),
      problem: () => Promise.resolve('The controller cannot write /etc/tokens.yaml, or make a file beside it.'),
    };
    await using _ = await startKeeper(suite, provider, writer);
    await until('the reason', async () => (await browser.get(page)).body.includes('cannot write /etc/tokens.yaml'));
    expect((await browser.get(page)).body)
      .to.include('--organization acme')
      .and.to.not.include('Make a token');
  });
});

describe('a console with CONSOLE_MANAGE=false', () => {
  let provider: OidcProvider;
  before(async () => {
    provider = await OidcProvider.start();
  });
  after(() => provider.stop());
  const suite = suiteLogin(() => ({ ...provider.settings(roles), CONSOLE_MANAGE: 'false' }));

  it('refuses every change over the API', async () => {
    for (const [method, path, body] of [
      ['PUT', '/v1/automations/', { automations: [] }],
      ['POST', '/v1/tokens/', { kind: 'write', name: 'x' }],
    ] as const) {
      expect((await manage(suite, method, path, body)).status).to.equal(403);
    }
  });

  it('makes a reader of every owner', async () => {
    const browser = suite.browser();
    await browser.logIn(provider, olga);
    expect((await browser.get('/o/acme/')).body).to.not.include('/settings/');
    expect((await browser.get(page)).status).to.equal(403);
  });
});
