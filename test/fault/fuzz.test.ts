import { expect } from 'chai';
import { settledWithin } from '../../internal/kit/async/settled-within.ts';
import { ApiClient, type Answer } from '../support/api-client.ts';
import { automations, bulks, mutated, schemaAware, type FuzzedRequest } from '../support/fault/fuzz.ts';
import { Random, seedOfRun } from '../support/fault/random.ts';
import { sharedSystem } from '../support/fault/shared-system.ts';
import type { System } from '../support/fault/system.ts';
import { token } from '../support/fault/tokens.ts';
import { RawConnection, registerHead } from '../support/raw-connection.ts';

/** Requests of each kind. Each run has another seed: together they send as many as one long run. */
const [ofSchema, ofSeveral, ofBytes, ofAnything] = [16_000, 4_000, 12_000, 2_000];

/** The answers that a request with a valid token may get while every server is well. */
const documented = new Set([201, 207, 400, 409, 413, 415, 422, 431]);

describe('fuzzing', () => {
  const seed = seedOfRun();
  let system: System;
  let port: number;
  let client: ApiClient;
  /** Events that were acknowledged: without a key each is one, with one each key is. */
  let receipts = 0;
  const keys = new Set<string>();
  const invalidAnswers: string[] = [];
  const statuses = new Map<number, number>();
  /** Rows of earlier suites. */
  let earlier: number;

  before(async () => {
    system = await sharedSystem();
    port = system.pod('ingest-1').apiPort;
    earlier = await rows();
    client = new ApiClient(`http://127.0.0.1:${port}`, { token, 'x-forwarded-proto': 'https' });
  });

  after(() => client.close());

  async function rows(): Promise<number> {
    await system.drained();
    return Number((await system.query('select count(*) from events'))[0]?.['count']);
  }

  async function post({ headers, body }: FuzzedRequest, path?: string): Promise<Answer> {
    const answer = await client.register(body, headers, undefined, path);
    const { status } = answer;
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    if (!documented.has(status))
      invalidAnswers.push(`${status} ${answer.body}\nfor ${JSON.stringify(headers)}\n${body.toString('base64')}`);
    return answer;
  }

  async function send(request: FuzzedRequest): Promise<void> {
    const { headers } = request;
    const { status } = await post(request);
    const key = headers['idempotency-key'];
    if (status === 201 && key === undefined) receipts += 1;
    if (status === 201 && key !== undefined) keys.add(key.replace(/^"(.*)"$/, '$1'));
  }

  /** Counts the events of the request but those that the answer says have failed. */
  async function sendBulk(request: FuzzedRequest): Promise<void> {
    const { headers, body } = request;
    const partial = body.length % 2 === 0;
    const answer = await post(request, `/v1/register/bulk/?partial=${String(partial)}`);
    if (answer.status !== 201 && answer.status !== 207) return;
    const failed = answer.status === 207 ? answer.json<{ failed: { index: number }[] }>().failed : [];
    const indexes = new Set(failed.map(({ index }) => index));
    const text = body.toString();
    const lines =
      headers['content-type'] === 'application/x-ndjson' ? text.split('\n').filter((line) => line.trim()) : [];
    const events = lines.length > 0 ? lines : (JSON.parse(text) as unknown[]).map((event) => JSON.stringify(event));
    for (const [index, line] of events.entries()) {
      if (indexes.has(index)) continue;
      const { idempotency_key: key } = JSON.parse(line) as { idempotency_key?: string | null };
      if (typeof key === 'string') keys.add(key);
      else receipts += 1;
    }
  }

  /** Sends requests 32 at a time. */
  async function sendAll(requests: Iterable<FuzzedRequest>, sendOne = send): Promise<void> {
    const left = requests[Symbol.iterator]();
    const work = async (): Promise<void> => {
      for (let next = left.next(); next.done !== true; next = left.next()) await sendOne(next.value);
    };
    await Promise.all(Array.from({ length: 32 }, work));
    expect(invalidAnswers.slice(0, 3)).to.deep.equal([]);
  }

  it(`bodies and headers that know the schema get documented answers: ${ofSchema}, SEED=${seed}`, async () => {
    for (let batch = 0; batch < ofSchema / 1_000; batch += 1) await sendAll(schemaAware(seed + batch, 1_000));
    expect([...statuses.keys()]).to.include.members([201, 400, 415]);
  });

  it(`bodies with several events get documented answers: ${ofSeveral}, SEED=${seed}`, async () => {
    for (let batch = 0; batch < ofSeveral / 1_000; batch += 1) await sendAll(bulks(seed + batch, 1_000), sendBulk);
    expect([...statuses.keys()]).to.include.members([201, 207, 400]);
  });

  it(`bodies with changed bytes get documented answers: ${ofBytes}, SEED=${seed}`, async () => {
    const random = new Random(seed);
    await sendAll(Array.from({ length: ofBytes }, () => mutated(random)));
  });

  it(`requests with changed bytes anywhere are answered or cut off: ${ofAnything}, SEED=${seed}`, async () => {
    const random = new Random(seed + 1);
    const body = JSON.stringify({ automation_id: 'not a UUID', execution_id: 'raw', event: 'START' });
    const head = [...registerHead(token), 'Connection: close', `Content-Length: ${body.length}`, ''];
    const valid = [...head, body].join('\r\n');
    const exchange = async (): Promise<string> => {
      using connection = await RawConnection.open(port);
      const bytes = Buffer.from(valid);
      for (let count = random.int(1, 5); count > 0; count -= 1)
        bytes[random.int(0, bytes.length - 1)] = random.int(0, 255);
      connection.send(bytes);
      // A changed length may leave the server waiting for more.
      await settledWithin(300, connection.closed);
      return connection.received;
    };
    for (let sent = 0; sent < ofAnything; sent += 100) {
      const received = await Promise.all(Array.from({ length: 100 }, exchange));
      expect(received.join('\n')).to.not.match(/^HTTP\/1\.1 5/m);
    }
  });

  it('every receipt is a row, nothing else is, and nothing became a dead letter', async () => {
    await system.drained();
    const [counts] = await system.query(
      `select (select count(*)::integer from dead_letters) as letters, count(*)::integer as events,
         count(*) filter (where automation_id = any($1::uuid[]))::integer as fuzzed from events`,
      [automations],
    );
    expect(counts).to.include({ letters: 0, events: earlier + receipts + keys.size });
    expect(counts?.['fuzzed']).to.be.above(ofSchema / 5);
    expect(system.crashes).to.equal(0);
    console.log(`      ${JSON.stringify(Object.fromEntries(statuses))}`);
  });
});
