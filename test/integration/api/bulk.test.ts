import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Answer } from '../../support/api-client.ts';
import { inBothModes } from '../../support/api-modes.ts';
import { eventBody } from '../../support/events.ts';
import { underWay } from '../../support/keys.ts';
import { expectValid, readOpenApi, type OpenApiOperation } from '../../support/openapi.ts';
import { readToken, startWorker } from '../../support/pipeline.ts';
import { query } from '../../support/postgres-server.ts';
import { expectProblem } from '../../support/problem.ts';
import { migratedUrl } from '../../support/store.ts';
import { until } from '../../support/until.ts';

type Body = Record<string, unknown>;

inBothModes('POST /v1/register/bulk/', ({ suiteIngest }) => {
  const suite = suiteIngest();
  let operation: OpenApiOperation | undefined;
  before(async () => {
    operation = (await readOpenApi({ dereferenced: true })).paths['/v1/register/bulk/']?.['post'];
  });

  /** Checks that the answer is described. */
  async function bulk(body: unknown, headers: Record<string, string | undefined> = {}, query = ''): Promise<Answer> {
    const answer = await suite.ingest.client.register(body, headers, undefined, `/v1/register/bulk/${query}`);
    expectValid(operation?.responses[String(answer.status)], answer.json());
    return answer;
  }
  const partly = (body: unknown): Promise<Answer> => bulk(body, {}, '?partial=true');
  const lines = (events: unknown[], end = '\n'): Promise<Answer> =>
    bulk(events.map((event) => JSON.stringify(event)).join(end), { 'content-type': 'application/x-ndjson' });
  const bodies = (count: number): Body[] =>
    Array.from({ length: count }, (_, index) => eventBody({ description: `event ${index}` }));
  const descriptions = async (): Promise<string[]> => (await suite.stored()).map(({ description }) => description);
  const jobs = async (): Promise<unknown> => suite.redis.command('llen', '{runledger}:events:wait');
  const recorded = (answer: Answer): unknown[] => answer.json<Body[]>().map((event) => event['description']);

  for (const count of [1, 3, 500]) {
    it(`records ${count} in order, in one commit`, async () => {
      const answer = await bulk(bodies(count));
      expect(answer.status, answer.body).to.equal(201);
      const expected = bodies(count).map(({ description }) => description);
      expect(recorded(answer)).to.deep.equal(expected);
      expect(await descriptions()).to.deep.equal(expected);
      expect(await jobs()).to.equal(1);
      expect(Object.keys(answer.json<Body[]>()[0] ?? {})).to.deep.equal([
        'automation',
        'execution_id',
        'type_of_event',
        'description',
        'error_id',
        'error_description_detail',
        'created_at',
      ]);
    });
  }

  it('takes one event a line; empty lines and the slash at the end do not matter', async () => {
    const occurred_at = new Date(Date.now() - 60_000).toISOString();
    const events = [...bodies(2), eventBody({ description: 'late\nevent', occurred_at })];
    for (const end of ['\n', '\r\n', '\n\n']) {
      const answer = await lines([...events, ''].slice(0, 3), end);
      expect(recorded(answer)).to.deep.equal(['event 0', 'event 1', 'late\nevent']);
    }
    const { path, ...rest } = { path: '/v1/register/bulk', method: 'POST', body: JSON.stringify(events) };
    const headers = { 'content-type': 'application/x-ndjson; charset=utf-8', 'transfer-encoding': 'chunked' };
    const body = events.map((event) => JSON.stringify(event)).join('\n');
    expect((await suite.ingest.client.send({ ...rest, path, headers, body })).status).to.equal(201);
    const late = (await suite.stored()).filter(({ occurredAt }) => occurredAt === Date.parse(occurred_at));
    expect(late).to.have.lengthOf(4);
  });

  it('records none if one is not valid, and names every fault', async () => {
    const events = [eventBody(), { ...eventBody(), event: 'BEGIN' }, eventBody({ execution_id: '', error_id: 7 }), 5];
    const answer = await bulk(events);
    expectProblem(answer, 400, 'invalid-event');
    expect(answer.json()['errors']).to.have.deep.members([
      { pointer: '/1/event', detail: 'must be one of START, EVENT, WARNING, ERROR, END' },
      { pointer: '/2/execution_id', detail: 'must not be empty' },
      { pointer: '/2/error_id', detail: 'must be a string' },
      { pointer: '/3', detail: 'must be a JSON object' },
    ]);
    expect(await suite.stored()).to.deep.equal([]);
  });

  it('names a line that is not JSON', async () => {
    const body = `${JSON.stringify(eventBody())}\n{"event":`;
    const answer = await bulk(body, { 'content-type': 'application/x-ndjson' });
    expectProblem(answer, 400, 'invalid-event');
    const detail = 'must be valid JSON: it ends at line 2, column 10, inside an object';
    expect(answer.json()['errors']).to.deep.equal([{ pointer: '/1', detail }]);
    expect(await suite.stored()).to.deep.equal([]);
  });

  for (const [what, body, code, detail] of [
    ['no list', '{}', 'malformed-request', 'must be a JSON array'],
    ['no JSON', '[', 'malformed-request', 'must be valid JSON: it ends at line 1, column 2, inside an array'],
    ['nothing', '', 'malformed-request', 'must not be empty'],
    ['an empty list', '[]', 'invalid-event', 'must hold 1 to 500 events, it holds 0'],
    ['501 events', JSON.stringify(bodies(501)), 'invalid-event', 'must hold 1 to 500 events, it holds 501'],
    ['invalid UTF-8', Buffer.from([0x5b, 0xff, 0x5d]), 'malformed-request', 'must be valid UTF-8, which byte 2 is not'],
  ] as const) {
    it(`refuses ${what}, also in part`, async () => {
      for (const query of ['', '?partial=true']) {
        const answer = await bulk(body, {}, query);
        expectProblem(answer, 400, code);
        expect(answer.json()['errors']).to.deep.equal([{ pointer: '', detail }]);
      }
      expect(await suite.stored()).to.deep.equal([]);
    });
  }

  it('takes 2 MiB, and refuses more with 413', async () => {
    const events = bodies(500).map((body) => ({ ...body, description: 'x'.repeat(3_500) }));
    const text = JSON.stringify(events);
    const limit = 2 * 1_024 * 1_024;
    expect((await bulk(text.padEnd(limit))).status).to.equal(201);
    expectProblem(await bulk(text.padEnd(limit + 1)), 413, 'payload-too-large');
    expect(await suite.stored()).to.have.lengthOf(500);
  });

  it('refuses other types with 415, no token with 401, a read token with 403, GET with 405', async () => {
    expectProblem(await bulk('x', { 'content-type': 'text/plain' }), 415, 'unsupported-media-type');
    expectProblem(
      await bulk('x', { 'content-type': 'application/x-ndjson; charset=latin1' }),
      415,
      'unsupported-media-type',
    );
    expectProblem(await bulk('[]', { token: undefined }), 401, 'unauthorized');
    expectProblem(await bulk('[]', { token: readToken }), 403, 'insufficient-scope');
    const { status, headers } = await suite.ingest.client.send({ path: '/v1/register/bulk/' });
    expect([status, headers.allow]).to.deep.equal([405, 'POST']);
  });

  it('refuses the header Idempotency-Key, and a partial that is neither true nor false', async () => {
    const keyed = await bulk(bodies(1), { 'idempotency-key': 'k' });
    expect(keyed.json()['errors']).to.deep.equal([
      { header: 'Idempotency-Key', detail: 'is for single events: give each event an idempotency_key' },
    ]);
    for (const query of ['?partial=yes', '?partial', '?partial=true&partial=true']) {
      const answer = await bulk(bodies(1), {}, query);
      expectProblem(answer, 400, 'malformed-request');
      expect(answer.json()['errors']).to.deep.equal([{ parameter: 'partial', detail: 'must be true or false' }]);
    }
    expect(await suite.stored()).to.deep.equal([]);
  });

  describe('with idempotency_key', () => {
    const keyed = (...keys: (string | null)[]): Body[] =>
      bodies(keys.length).map((body, index) => ({ ...body, idempotency_key: keys[index] }));

    it('gives the first answer again, also to a single event, and records what is new', async () => {
      const [one, two, three] = keyed('1', '2', '3');
      const first = await bulk([one, two]);
      const again = await bulk([two, three, one]);
      expect(again.status, again.body).to.equal(201);
      const [a, b] = first.json<Body[]>();
      expect(again.json<Body[]>()).to.deep.equal([b, again.json<Body[]>()[1], a]);
      const single = await suite.ingest.client.register(two, { 'idempotency-key': '2' });
      expect(single.json()).to.deep.equal(b);
      expect(await descriptions()).to.deep.equal(['event 0', 'event 1', 'event 2']);
    });

    it('records none if a key came with another body, and reserves no other key', async () => {
      await bulk(keyed('1'));
      const [, two] = keyed('1', '2');
      const refused = await bulk([two, { ...eventBody(), idempotency_key: '1' }]);
      expectProblem(refused, 422, 'idempotency-key-reused');
      expect(refused.json()['errors']).to.deep.equal([
        { pointer: '/1/idempotency_key', detail: 'This Idempotency-Key was used with another body.' },
      ]);
      expect(await descriptions()).to.deep.equal(['event 0']);
      expect((await bulk([{ ...eventBody(), idempotency_key: '2' }])).status).to.equal(201);
    });

    it('records none while the first request with a key is under way', async () => {
      const events = keyed('1', '2');
      await bulk(events.slice(0, 1));
      expect(await underWay(suite.redis)).to.equal(1);
      const answer = await bulk(events);
      expectProblem(answer, 409, 'request-in-progress');
      expect(answer.headers['retry-after']).to.equal('1');
      expect(await suite.stored()).to.have.lengthOf(1);
      const part = await partly(events);
      expect(part.status).to.equal(207);
      expect(part.json()['failed']).to.deep.equal([
        {
          index: 0,
          errors: [
            {
              pointer: '/0/idempotency_key',
              detail: 'The first request with this Idempotency-Key is still under way.',
            },
          ],
          retriable: true,
        },
      ]);
      expect(await descriptions()).to.deep.equal(['event 0', 'event 1']);
    });

    it('refuses a key twice, and what is no key', async () => {
      const answer = await bulk([
        ...keyed('1', '1'),
        ...['', 'ü', 7, 'a"b', 'x'.repeat(256)].map((key) => ({ ...eventBody(), idempotency_key: key })),
      ]);
      const rule = 'must be 1 to 255 visible ASCII characters, without quotes and backslashes';
      expect(answer.json()['errors']).to.deep.equal([
        { pointer: '/1/idempotency_key', detail: 'is the key of event 0 too' },
        ...[2, 3, 4, 5, 6].map((index) => ({ pointer: `/${index}/idempotency_key`, detail: rule })),
      ]);
      expect((await bulk(keyed(null, null))).status).to.equal(201);
    });
  });

  describe('with ?partial=true', () => {
    it('answers 201 with all events if none fails', async () => {
      const answer = await partly(bodies(3));
      expect(answer.status).to.equal(201);
      expect(recorded(answer)).to.deep.equal(['event 0', 'event 1', 'event 2']);
    });

    it('records those that are valid, and answers 207 with the others', async () => {
      const [one, two] = bodies(2);
      await bulk([{ ...one, idempotency_key: 'k' }]);
      const answer = await partly([{}, two, { ...two, idempotency_key: 'k' }, 'x', one]);
      expect(answer.status).to.equal(207);
      const { summary, failed } = answer.json<{ summary: unknown; failed: { index: number; retriable: boolean }[] }>();
      expect(summary).to.deep.equal({ recorded: 2, failed: 3 });
      expect(failed.map(({ index, retriable }) => [index, retriable])).to.deep.equal([
        [0, false],
        [2, false],
        [3, false],
      ]);
      expect(await descriptions()).to.deep.equal(['event 0', 'event 1', 'event 0']);
    });

    it('answers 207 if every event fails', async () => {
      const answer = await partly(['x']);
      expect(answer.json()['summary']).to.deep.equal({ recorded: 0, failed: 1 });
      expect(await suite.stored()).to.deep.equal([]);
    });
  });

  it('records 2 MiB of texts that take two bytes a character, as an array and as lines', async () => {
    const large = Array.from({ length: 220 }, (_, index) =>
      eventBody({ description: `✓ ${index} ${'x'.repeat(9_000)}` }),
    );
    for (const answer of [await bulk(large), await lines(large)]) {
      expect(answer.status).to.equal(201);
      expect(recorded(answer)).to.deep.equal(large.map(({ description }) => description));
    }
    expect(await descriptions()).to.deep.equal([...large, ...large].map(({ description }) => description));
    expect(await jobs()).to.equal(2);
  });

  it('400 for a large body that is no JSON, or has too many values', async () => {
    const rest = 'x'.repeat(100_000);
    for (const body of [`[{},"${rest}]`, `{"a":"${rest}`, `[1,"${rest}"]]`]) {
      expectProblem(await bulk(body), 400, 'malformed-request');
    }
    const values = `[${JSON.stringify(eventBody({ extra: '?' })).replace('"?"', `[${Array(60_000).fill('{}').join(',')}]`)}]`;
    const answer = await bulk(values);
    expectProblem(answer, 400, 'invalid-event');
    expect(answer.body).to.include('must not hold more than 50000 values');
    expect(await descriptions()).to.deep.equal([]);
  });

  it('brings all events to Postgres, and counts their executions', async () => {
    const database = await migratedUrl();
    await using worker = await startWorker({ REDIS_URL: suite.redis.url, DATABASE_URL: database });
    expect(worker).to.not.equal(undefined);
    const automation_id = randomUUID();
    const events = Array.from({ length: 100 }, (_, run) => `run ${run}`).flatMap((execution_id) =>
      ['START', 'EVENT', 'END'].map((event) => ({ automation_id, execution_id, event })),
    );
    expect((await bulk(events)).status).to.equal(201);
    const states = await until('all executions', async () => {
      const rows = await query(database, 'select state, count(*)::integer from executions group by state');
      return rows[0]?.['count'] === 100 ? rows : undefined;
    });
    expect(states).to.deep.equal([{ state: 'succeeded', count: 100 }]);
    expect(await query(database, 'select count(*)::integer from events')).to.deep.equal([{ count: 300 }]);
  });
});

inBothModes('POST /v1/register/bulk/ without Redis', ({ startIngest }) => {
  it('answers 503, also in part', async () => {
    await using away = await startIngest({ REDIS_URL: 'redis://127.0.0.1:1' });
    for (const query of ['', '?partial=true']) {
      const answer = await away.client.register([eventBody()], {}, undefined, `/v1/register/bulk/${query}`);
      expectProblem(answer, 503, 'unavailable');
      expect(answer.headers['retry-after']).to.equal('1');
    }
  });
});
