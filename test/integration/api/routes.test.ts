import { expect } from 'chai';
import { inBothModes } from '../../support/api-modes.ts';
import { eventBody } from '../../support/events.ts';
import { token } from '../../support/pipeline.ts';
import { expectProblem } from '../../support/problem.ts';
import { exchange } from '../../support/raw-connection.ts';

inBothModes('routes', ({ suiteIngest }) => {
  const suite = suiteIngest();

  for (const path of ['/v1/register/', '/v1/register', '/v1/register/?a=1']) {
    it(`registers at ${path}`, async () => {
      const headers = { 'content-type': 'application/json' };
      const request = { method: 'POST', path, headers, body: JSON.stringify(eventBody()) };
      const answer = await suite.ingest.client.send(request);
      expect(answer.status, answer.body).to.equal(201);
    });
  }

  for (const path of ['/v1/ping/', '/v1/ping']) {
    for (const method of ['GET', 'HEAD', 'POST']) {
      it(`answers ${method} ${path}`, async () => {
        const answer = await suite.ingest.client.send({ method, path });

        expect(answer.status).to.equal(200);
        expect(answer.headers['content-type']).to.match(/^application\/json/);
        expect(answer.headers['cache-control']).to.equal('no-store');
        if (method === 'HEAD') return expect(answer.body).to.equal('');
        const { time, ...rest } = answer.json<{ time: string }>();
        expect(rest).to.deep.equal({ status: 'ok', organization: 'acme', scope: 'write' });
        return expect(time).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      });
    }
  }

  for (const path of ['/', '/v1/', '/v2/register/', '/V1/REGISTER/', '/v1/register/x', '/v1/register//', '//', '/%']) {
    it(`has nothing at ${path}`, async () => {
      const answer = await suite.ingest.client.send({ method: 'POST', path, body: '{' });

      expectProblem(answer, 404, 'not-found');
    });
  }

  for (const [method, path, allow] of [
    ['GET', '/v1/register/', 'POST'],
    ['HEAD', '/v1/register', 'POST'],
    ['OPTIONS', '/v1/register/', 'POST'],
    ['PUT', '/v1/register/', 'POST'],
    ['DELETE', '/v1/ping/', 'GET, HEAD, POST'],
    ['TRACE', '/v1/ping', 'GET, HEAD, POST'],
  ] as const) {
    it(`does not allow ${method} ${path}, and says what it does`, async () => {
      const answer = await suite.ingest.client.send({ method, path });

      expect(answer.status).to.equal(405);
      expect(answer.headers.allow?.split(', ').toSorted().join(', ')).to.equal(allow);
    });
  }

  it('tells a GET on register that it may be a POST that was redirected', async () => {
    const answer = await suite.ingest.client.send({ path: '/v1/register/' });
    expect(answer.json()['detail']).to.match(/redirect.*https/);
  });

  it('takes a target in absolute form, as HTTP/1.1 requires', async () => {
    const head = ['Host: other.example', `Token: ${token}`, 'X-Forwarded-Proto: https', 'Connection: close'];
    const target = 'GET https://other.example/v1/ping/ HTTP/1.1';
    expect(await exchange(suite.ingest.port, target, ...head, '', '')).to.match(/^HTTP\/1\.1 200 /);
  });
});

inBothModes('ping', ({ suiteIngest }) => {
  const suite = suiteIngest(() => ({ REDIS_URL: 'redis://127.0.0.1:1' }));

  it('answers without Redis, where register does not', async () => {
    const ping = await suite.ingest.client.send({ path: '/v1/ping/' });
    const register = await suite.ingest.client.register(eventBody());

    expect(ping.status).to.equal(200);
    expect(register.status).to.equal(503);
    expect(register.headers['retry-after']).to.match(/^\d+$/);
    expect(register.headers['content-type']).to.equal('application/problem+json');
  });

  it('need a Host header, as HTTP/1.1 requires', async () => {
    const head = ['GET /v1/ping/ HTTP/1.1', 'X-Forwarded-Proto: https', `Token: ${token}`, 'Connection: close'];
    const answer = await exchange(suite.ingest.port, ...head, '', '');
    expect(answer).to.match(/^HTTP\/1\.1 400 [^]*application\/problem\+json[^]*The header Host is missing\./);
    expect(await exchange(suite.ingest.port, ...head, 'Host: x', '', '')).to.match(/^HTTP\/1\.1 200 /);
  });
});
