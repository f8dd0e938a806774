import { expect } from 'chai';
import { inBothModes } from '../../support/api-modes.ts';
import { ApiClient, type Answer } from '../../support/api-client.ts';
import { eventBody } from '../../support/events.ts';
import { underWay } from '../../support/keys.ts';
import { expectDescribed, expectValid, readOpenApi, type OpenApiDocument } from '../../support/openapi.ts';
import { readToken } from '../../support/pipeline.ts';
import { answerOf } from '../../support/problem.ts';
import { exchange } from '../../support/raw-connection.ts';

type Register = (body: unknown, headers?: Record<string, string | undefined>) => Promise<Answer>;

inBothModes('openapi.yaml describes what is served', ({ startApi, startIngest, suiteIngest }) => {
  const suite = suiteIngest();
  const notLoaded = suiteIngest(
    () => ({}),
    () => ({ status: 'not-loaded' }),
  );
  let document: OpenApiDocument;
  before(async () => {
    document = await readOpenApi({ dereferenced: true });
  });
  const register: Register = (body, headers) => suite.ingest.client.register(body, headers);

  for (const kind of ['START', 'EVENT', 'WARNING', 'ERROR', 'END']) {
    it(`201: the example of ${kind} gives the example's answer`, async () => {
      const operation = document.paths['/v1/register/']?.['post'];
      const example = operation?.requestBody?.content['application/json']?.examples[kind]?.value;
      const promised = operation?.responses['201']?.content?.['application/json']?.examples?.[kind]?.value;
      const answer = await register(example);

      expect(answer.status).to.equal(201);
      expectDescribed(answer, operation?.responses['201']);
      expect({ ...answer.json(), created_at: '' }).to.deep.equal({ ...(promised as object), created_at: '' });
      expectValid(operation?.responses['201'], promised);
    });
  }

  for (const method of ['get', 'head', 'post']) {
    it(`200 of ${method} ping`, async () => {
      const answer = await suite.ingest.client.send({ method: method.toUpperCase(), path: '/v1/ping/' });
      expect(answer.status).to.equal(200);
      const response = document.paths['/v1/ping/']?.[method]?.responses['200'];
      if (method !== 'head') expectDescribed(answer, response);
      expectValid(response);
    });
  }

  it('301', async () => {
    const answer = await register(eventBody(), { 'x-forwarded-proto': undefined });
    const headers = document.paths['/v1/register/']?.['post']?.responses['301']?.headers ?? {};
    expect(answer.status).to.equal(301);
    expect(Object.keys(answer.headers)).to.include.members(Object.keys(headers).map((name) => name.toLowerCase()));
  });

  /** How to get each documented problem. The answer must be the example, word for word. */
  const problems: Record<string, () => Promise<Answer>> = {
    '400 invalidEvent': () => register({ automation_id: '7', event: 'BEGIN' }),
    '400 malformedJson': () => register('{'),
    '400 malformedKey': () => register(eventBody(), { 'idempotency-key': 'a b' }),
    '401 missingToken': () => register(eventBody(), { token: undefined }),
    '401 unknownToken': () => register(eventBody(), { token: 'unknown' }),
    '401 twoTokens': () => register(eventBody(), { authorization: 'Bearer another' }),
    '403 readToken': () => register(eventBody(), { token: readToken }),
    '408 slowClient': async () => {
      const impatient = { headersTimeout: 20, requestTimeout: 20, connectionsCheckingInterval: 5 };
      await using api = await startApi((event) => Promise.resolve(event), impatient);
      return answerOf(await exchange(api.port, 'GET / HTTP/1.1', ''));
    },
    '409 inProgress': async () => {
      const body = eventBody();
      await register(body, { 'idempotency-key': 'k' });
      expect(await underWay(suite.redis)).to.equal(1);
      return register(body, { 'idempotency-key': 'k' });
    },
    '413 tooLarge': () => register(Buffer.alloc(300 * 1024)),
    '415 notJson': () => register('x', { 'content-type': 'text/plain' }),
    '415 otherEncoding': () => register('x', { 'content-encoding': 'br' }),
    '422 keyReused': async () => {
      await register(eventBody(), { 'idempotency-key': 'k' });
      return register(eventBody(), { 'idempotency-key': 'k' });
    },
    '429 organizationLimited': async () => {
      await using limited = await startIngest({ REDIS_URL: suite.redis.url, ORGANIZATION_RATE: '1' });
      const body = JSON.stringify(Array.from({ length: 500 }, () => eventBody()));
      const headers = { 'content-type': 'application/json' };
      await limited.client.send({ method: 'POST', path: '/v1/register/bulk/', headers, body });
      return await limited.client.register(eventBody());
    },
    '431 headersTooLarge': async () =>
      answerOf(await exchange(suite.ingest.port, 'GET / HTTP/1.1', `X: ${'x'.repeat(17_000)}`, '', '')),
    '500 internalError': async () => {
      await using api = await startApi(() => Promise.reject(new Error('boom')));
      const client = new ApiClient(`http://127.0.0.1:${api.port}`, api.headers);
      return await client.register(eventBody()).finally(() => client.close());
    },
    '503 overloaded': async () => {
      await using away = await startIngest({ REDIS_URL: 'redis://127.0.0.1:1' });
      return await away.client.register(eventBody());
    },
    '503 starting': () => notLoaded.ingest.client.register(eventBody()),
  };

  for (const [name, provoke] of Object.entries(problems)) {
    it(name, async () => {
      const [status = '', example = ''] = name.split(' ');
      const response = document.paths['/v1/register/']?.['post']?.responses[status];
      const answer = await provoke();

      expect(String(answer.status)).to.equal(status);
      expectDescribed(answer, response);
      expect(answer.json()).to.deep.equal(response?.content?.['application/problem+json']?.examples?.[example]?.value);
    });
  }

  it('has no example that was not sent', () => {
    const responses = Object.entries(document.paths['/v1/register/']?.['post']?.responses ?? {});
    const documented = responses.flatMap(([status, { content }]) =>
      Object.keys(content?.['application/problem+json']?.examples ?? {}).map((example) => `${status} ${example}`),
    );
    expect(documented).to.have.members(Object.keys(problems));
  });
});
