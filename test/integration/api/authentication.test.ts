import { expect } from 'chai';
import { inBothModes } from '../../support/api-modes.ts';
import { eventBody } from '../../support/events.ts';
import { readToken, token } from '../../support/pipeline.ts';
import { exchange, registerHead } from '../../support/raw-connection.ts';

const missing = 'The token is missing: send it in the header token, or as Authorization: Bearer.';

inBothModes('authentication', ({ suiteIngest }) => {
  const suite = suiteIngest();

  for (const [what, given, detail] of [
    ['no token', undefined, missing],
    ['an empty token', '', missing],
    ['a blank token', '  ', missing],
    ['an unknown token', 'wrong-token-0123456789', 'The token is not valid.'],
    ['a token in another case', token.toUpperCase(), 'The token is not valid.'],
    ['a token and more', `${token}x`, 'The token is not valid.'],
    ['two tokens', `${token}, ${readToken}`, 'The token is not valid.'],
  ] as const) {
    it(`refuses ${what} with 401, whatever the body`, async () => {
      const { client } = suite.ingest;
      const answers = await Promise.all([
        client.register(eventBody(), { token: given }),
        client.register('{', { token: given, 'content-type': 'text/plain' }),
        client.register(Buffer.alloc(300 * 1024), { token: given }),
        client.send({ path: '/v1/ping/', headers: { token: given } }),
      ]);

      for (const answer of answers) {
        expect(answer.status).to.equal(401);
        expect(answer.headers['content-type']).to.equal('application/problem+json');
        expect(answer.headers['www-authenticate']).to.be.a('string');
        expect(answer.json()).to.include({ status: 401, detail });
      }
      expect(await suite.stored()).to.deep.equal([]);
    });
  }

  it('takes a token only from the headers token and Authorization: Bearer', async () => {
    const { client } = suite.ingest;
    const elsewhere = {
      token: undefined,
      authorization: `Basic ${token}`,
      cookie: `token=${token}`,
      'content-type': 'application/json',
    };
    const answer = await client.send({
      method: 'POST',
      path: `/v1/register/?token=${token}`,
      headers: elsewhere,
      body: JSON.stringify({ ...eventBody(), token }),
    });
    expect(answer.status).to.equal(401);
  });

  it('takes the token with white space around it', async () => {
    const answer = await suite.ingest.client.send({ path: '/v1/ping/', headers: { token: ` ${token}\t` } });
    expect(answer.status).to.equal(200);
  });

  it('takes one token that comes twice in the same header, and once more in the other', async () => {
    const { client } = suite.ingest;
    for (const headers of [
      { token: [token, token] },
      { token: [token, ''] },
      { token: [token, token], authorization: `Bearer ${token}` },
      { token: undefined, authorization: [`Bearer ${token}`, `Bearer ${token}`] },
    ]) {
      expect((await client.register(eventBody(), headers)).status).to.equal(201);
    }
    for (const headers of [
      { token: [token, readToken] },
      { token: [token, token], authorization: `Bearer ${readToken}` },
    ]) {
      expect((await client.register(eventBody(), headers)).status).to.equal(401);
    }
  });

  for (const authorization of [`Bearer ${token}`, `bearer ${token}`, `BEARER   ${token} `]) {
    it(`takes the token of "${authorization.slice(0, 10)}…", on both endpoints`, async () => {
      const { client } = suite.ingest;
      const headers = { token: undefined, authorization };
      expect((await client.send({ path: '/v1/ping/', headers })).status).to.equal(200);
      expect((await client.register(eventBody(), headers)).status).to.equal(201);
    });
  }

  it('takes the same token in both headers, and refuses two different ones', async () => {
    const { client } = suite.ingest;
    const given = (authorization: string) => client.send({ path: '/v1/ping/', headers: { authorization } });
    expect((await given(`Bearer ${token}`)).status).to.equal(200);
    expect((await given('Basic dXNlcjpwYXNzd29yZA==')).status).to.equal(200);
    expect((await given('Bearer ')).status).to.equal(200);
    for (const other of [readToken, 'wrong-token-0123456789', `${token}x`]) {
      const answer = await given(`Bearer ${other}`);
      expect(answer.status).to.equal(401);
      expect(answer.json()).to.include({
        detail: 'The headers token and Authorization have two different tokens: send one.',
      });
    }
  });

  for (const [how, headers] of [
    ['the header token', { token: readToken }],
    ['Authorization: Bearer', { token: undefined, authorization: `Bearer ${readToken}` }],
  ] as const) {
    it(`refuses an event with 403 that comes with a read token in ${how}, whatever the body`, async () => {
      const { client } = suite.ingest;
      const answers = await Promise.all([
        client.register(eventBody(), headers),
        client.register('{', { ...headers, 'content-type': 'text/plain' }),
        client.register(Buffer.alloc(300 * 1024), headers),
      ]);
      for (const answer of answers) {
        expect(answer.status).to.equal(403);
        expect(answer.headers['content-type']).to.equal('application/problem+json');
        expect(answer.headers['www-authenticate']).to.equal('Bearer realm="runledger", error="insufficient_scope"');
        expect(answer.json()).to.deep.equal({
          type: 'https://runledger.dev/problems/insufficient-scope',
          title: 'Insufficient scope',
          status: 403,
          detail: 'This token may read the record, and not record events: use a write token.',
        });
      }
      expect(await suite.stored()).to.deep.equal([]);
      const ping = await client.send({ path: '/v1/ping/', headers });
      expect(ping.json()).to.include({ status: 'ok', organization: 'acme', scope: 'read' });
    });
  }

  it('answers 404 and 405 before it looks at the token', async () => {
    const { client } = suite.ingest;
    const headers = { token: undefined };
    expect((await client.send({ path: '/nothing', headers })).status).to.equal(404);
    expect((await client.send({ path: '/v1/register/', headers })).status).to.equal(405);
  });

  it('invites no body before it has seen the token', async () => {
    const request = (given: string): string[] => [
      ...registerHead(given),
      'Content-Length: 2',
      'Expect: 100-continue',
      'Connection: close',
      '',
    ];
    expect(await exchange(suite.ingest.port, ...request('wrong'), '')).to.match(/^HTTP\/1\.1 401 /);
    expect(await exchange(suite.ingest.port, ...request(token), '{}')).to.match(
      /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 400 /,
    );
  });
});

inBothModes('authentication, before the tokens are loaded', ({ suiteIngest }) => {
  const suite = suiteIngest(
    () => ({}),
    () => ({ status: 'not-loaded' }),
  );

  for (const given of [token, 'wrong', '', undefined]) {
    it(`answers 503, never 401, to ${given === undefined ? 'no token' : `the token '${given}'`}`, async () => {
      const { client } = suite.ingest;
      const headers = { token: given };
      const answers = [await client.register(eventBody(), headers), await client.send({ path: '/v1/ping/', headers })];

      for (const answer of answers) {
        expect(answer.status).to.equal(503);
        expect(answer.headers['retry-after']).to.match(/^\d+$/);
        expect(answer.json()).to.include({ type: 'https://runledger.dev/problems/unavailable', status: 503 });
      }
    });
  }
});
