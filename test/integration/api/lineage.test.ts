import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { mostHeldBytes } from '../../../internal/event/held-bytes.ts';
import type { Answer } from '../../support/api-client.ts';
import { inBothModes } from '../../support/api-modes.ts';
import { underWay } from '../../support/keys.ts';
import { expectValid, readOpenApi, type OpenApiDocument } from '../../support/openapi.ts';
import { readToken } from '../../support/pipeline.ts';
import { expectProblem } from '../../support/problem.ts';

const job = { namespace: 'shop', name: 'orders.daily' };
/** Python: uuid5(uuid5(NAMESPACE_URL, 'shop'), 'orders.daily') */
const automationId = '492e1057-3826-56f9-9237-31ae0e150386';

inBothModes('POST /api/v1/lineage', ({ suiteIngest }) => {
  const suite = suiteIngest();
  let document: OpenApiDocument;
  before(async () => {
    document = await readOpenApi({ dereferenced: true });
  });
  const runId = randomUUID();
  const now = Date.now();
  const at = (ms: number): string => new Date(now + ms).toISOString();
  const event = (eventType: string | undefined, more: object = {}) => ({
    eventType,
    eventTime: at(0),
    run: { runId, facets: { nominalTime: { nominalStartTime: at(0) } } },
    job: { ...job, facets: { sql: { query: 'select 1' } } },
    inputs: [{ namespace: 'db', name: 'orders', facets: { deep: JSON.parse('['.repeat(99) + ']'.repeat(99)) as [] } }],
    producer: 'https://producer.example',
    schemaURL: 'https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent',
    ...more,
  });
  const failure = (message: string) => ({ run: { runId, facets: { errorMessage: { message, stackTrace: 'at x' } } } });

  async function send(body: unknown, path = '/api/v1/lineage', headers: Record<string, string | undefined> = {}) {
    const answer = await suite.ingest.client.register(body, headers, undefined, path);
    expectValid(document.paths[path]?.['post']?.responses[String(answer.status)], answer.json());
    return answer;
  }
  const batch = (events: unknown): Promise<Answer> => send(events, '/api/v1/lineage/batch');
  const kinds = async (): Promise<string[]> => (await suite.stored()).map(({ kind }) => kind);
  const pointersOf = (answer: Answer): string[] =>
    answer.json<{ errors: { pointer: string }[] }>().errors.map(({ pointer }) => pointer);

  it('records each type of event with its time, once, with the id of its job', async () => {
    const events = [
      event('START'),
      event('RUNNING', { eventTime: at(1) }),
      event(undefined, { eventTime: at(2) }),
      event('FAIL', { eventTime: at(3), ...failure('table is\0 locked') }),
      event('ABORT', { eventTime: at(4) }),
      // As Python writes it.
      event('COMPLETE', { eventTime: at(5).replace('Z', '000+00:00') }),
    ];
    for (const one of [...events, ...events]) {
      const answer = await send(one);
      expect(answer.status, answer.body).to.equal(200);
      expect(answer.json<object[]>()).to.have.lengthOf(/FAIL|ABORT/.test(String(one.eventType)) ? 2 : 1);
    }
    const stored = await suite.stored();
    const same = { automationId, executionId: runId };
    expect(stored).to.containSubset(Array.from({ length: 8 }, () => same));
    expect(stored.map(({ kind, occurredAt }) => [kind, (occurredAt ?? 0) - now])).to.deep.equal([
      ['START', 0],
      ['EVENT', 1],
      ['EVENT', 2],
      ['ERROR', 3],
      ['END', 3],
      ['ERROR', 4],
      ['END', 4],
      ['END', 5],
    ]);
    expect(stored[0]).to.include({ description: 'shop orders.daily' });
    expect(stored[1]).to.include({ description: 'RUNNING' });
    expect(stored[3]).to.include({ errorId: 'FAIL', errorDescription: 'table is\uFFFD locked' });
    expect((await send(event('FAIL', { eventTime: at(3), ...failure('another text') }))).status).to.equal(200);
    expect(await kinds()).to.have.lengthOf(8);
  });

  it('records a failure whole when its first attempt got 503 and the next one has another message', async () => {
    const fail = (message: string) => event('FAIL', failure(message));
    await suite.redis.command('set', '{runledger}:events:id', 'so that no job can be added');
    expectProblem(await send(fail('first')), 503, 'unavailable');
    expectProblem(await batch([fail('first')]), 503, 'unavailable');
    await suite.redis.command('del', '{runledger}:events:id');

    expect((await send(fail('second'))).json<object[]>()).to.have.lengthOf(2);
    expect((await batch([fail('third')])).status).to.equal(200);
    const stored = await suite.stored();
    expect(stored.map(({ kind }) => kind)).to.deep.equal(['ERROR', 'END']);
    expect(stored[0]).to.include({ errorDescription: 'second' });
  });

  it('reads a time without an offset as UTC, and replaces one outside the limits with the time of acceptance', async () => {
    const naive = at(0).replace('Z', '392');
    const times = [naive, naive.replace('T', ' '), `${naive}+00:00`, `${naive}Z`];
    for (const eventTime of times) expect((await send(event('FAIL', { eventTime }))).status).to.equal(200);
    for (const [index, ms] of [-91 * 86_400_000, 3_600_000].entries()) {
      const late = event('COMPLETE', { eventTime: at(ms), run: { runId: `${runId}-${index}` } });
      for (let i = 0; i < 2; i++) expect((await send(late)).status).to.equal(200);
      expect((await batch([late])).status).to.equal(200);
    }
    const stored = await suite.stored();
    expect(stored.map(({ kind, occurredAt }) => [kind, occurredAt])).to.deep.equal([
      ['ERROR', now],
      ['END', now],
      ['END', undefined],
      ['END', undefined],
    ]);
  });

  it('keeps apart events of the same millisecond', async () => {
    for (const digits of ['001', '002', '0020'])
      await send(event('RUNNING', { eventTime: at(0).replace('Z', digits) }));
    expect(await kinds()).to.deep.equal(['EVENT', 'EVENT']);
  });

  it('ignores events about a job or a data set', async () => {
    const aboutJob = event(undefined, { run: undefined });
    for (const one of [aboutJob, { ...aboutJob, job: undefined, dataset: { namespace: 'db', name: 'orders' } }]) {
      const answer = await send(one);
      expect([answer.status, answer.body]).to.deep.equal([200, '[]']);
    }
    expect((await batch([aboutJob, aboutJob])).json()).to.deep.include({
      summary: { received: 2, successful: 2, failed: 0 },
    });
    expect(await kinds()).to.deep.equal([]);
  });

  it('takes 6 MiB of facets, with and without a Content-Length', async () => {
    const facets = { plan: { text: 'é'.repeat(2 ** 21) }, list: Array.from({ length: 2 ** 17 }, () => ({ a: 1 })) };
    const text = JSON.stringify({ ...event('START'), run: { facets, runId } });
    const chunked = { 'content-length': undefined, 'transfer-encoding': 'chunked' };
    for (const headers of [{}, chunked]) expect((await send(text, undefined, headers)).status).to.equal(200);
    expect(await kinds()).to.deep.equal(['START']);
  });

  it('400: names each failing field', async () => {
    const bad = { eventType: 'BEGIN', eventTime: '2026-01-01 00:00', run: { runId: '' }, job: { name: 5 } };
    const answer = await send(bad);
    expectProblem(answer, 400, 'invalid-event');
    const pointers = ['/eventType', '/job/namespace', '/job/name', '/run/runId', '/eventTime'];
    expect(pointersOf(answer)).to.have.members(pointers);
    expect(pointersOf(await send({ eventType: 'START' }))).to.have.members(pointers.slice(1));
    const longName = event('START', { job: { namespace: '\0', name: 'n'.repeat(4_097) } });
    expect(pointersOf(await send(longName))).to.deep.equal(['/job/namespace', '/job/name']);
    expect(pointersOf(await send(event('START', { run: { runId: 'x'.repeat(256) } })))).to.deep.equal(['/run/runId']);
    for (const body of [{}, [], 5]) expectProblem(await send(body), 400, 'invalid-event');
    for (const body of ['', '{', '{"a":1}}']) expectProblem(await send(body), 400, 'malformed-request');
    expect(await kinds()).to.deep.equal([]);
  });

  it('records the valid events of a batch in one commit, and names the others', async () => {
    const end = event('COMPLETE', { eventTime: at(1) });
    const answer = await batch([event('START'), 5, event('START', { run: {}, eventTime: null }), end, end]);
    expect(answer.status).to.equal(207);
    expect(answer.json()).to.deep.equal({
      status: 'partial_success',
      summary: { received: 5, successful: 3, failed: 2 },
      failed_events: [
        { index: 1, reason: 'must be a JSON object', retriable: false },
        { index: 2, reason: '/run/runId is required; /eventTime is required', retriable: false },
      ],
    });
    expect(await kinds()).to.deep.equal(['START', 'END']);
    expect(await suite.redis.command('llen', '{runledger}:events:wait')).to.equal(1);
    const good = await batch([event('START'), end]);
    expect([good.status, good.json()['status']]).to.deep.equal([200, 'success']);
    expect((await batch([])).status).to.equal(200);
    expect(pointersOf(await batch([{}, event('BEGIN')]))).to.include.members(['/0/run/runId', '/1/eventType']);
    for (const body of [{}, Array.from({ length: 501 }, () => end)]) {
      expectProblem(await batch(body), 400, 'invalid-event');
    }
    expect(await kinds()).to.deep.equal(['START', 'END']);
  });

  it('413 for a batch that becomes more than a worker can hold, however short its job would be', async () => {
    const failed = event('FAIL', failure('x'.repeat(100_000)));
    const answer = await batch(Array.from({ length: 70 }, (_, index) => ({ ...failed, eventTime: at(index) })));
    expectProblem(answer, 413, 'payload-too-large');
    expect(answer.json()['detail']).to.include(String(mostHeldBytes));
    expect(await kinds()).to.deep.equal([]);
  });

  it('503 for an event that is being recorded, since clients repeat only that', async () => {
    await send(event('START'));
    expect(await underWay(suite.redis)).to.equal(1);
    expectProblem(await send(event('START')), 503, 'unavailable');
    const answer = await batch([event('START'), event('COMPLETE')]);
    expect(answer.status).to.equal(207);
    expect(answer.json()).to.containSubset({ failed_events: [{ index: 0, retriable: true }] });
    expect(await kinds()).to.deep.equal(['START', 'END']);
  });

  it('401, 403 and 415', async () => {
    const path = '/api/v1/lineage';
    expectProblem(await send(event('START'), path, { token: undefined }), 401, 'unauthorized');
    expectProblem(await send(event('START'), path, { token: readToken }), 403, 'insufficient-scope');
    expectProblem(await send(event('START'), path, { 'content-type': 'text/plain' }), 415, 'unsupported-media-type');
    expectProblem(await send(event('START'), path, { 'content-encoding': 'br' }), 415, 'unsupported-media-type');
  });
});
