import { settledWithin } from '../../internal/async/settled-within.ts';
import { expect } from 'chai';
import { ApiClient } from '../support/api-client.ts';
import { automations, mutated, schemaAware, type FuzzedRequest } from '../support/fault/fuzz.ts';
import { Random, seedOfRun } from '../support/fault/random.ts';
import { System, token } from '../support/fault/system.ts';
import { RawConnection } from '../support/raw-connection.ts';

/** The answers that a request with a valid token may get while every server is well. */
const documented = new Set([201, 400, 409, 413, 415, 422, 431]);

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

  before(async () => {
    system = await System.start();
    port = system.pod('ingest-1').apiPort;
    client = new ApiClient(`http://127.0.0.1:${port}`, { token, 'x-forwarded-proto': 'https' });
  });

  after(async () => {
    client.close();
    await system.stop();
  });

  async function send(request: FuzzedRequest): Promise<void> {
    const { status, body } = await client.register(request.body, request.headers);
    note(status, body, request);
  }

  function note(status: number, answer: string, { headers, body }: FuzzedRequest): void {
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    if (!documented.has(status))
      invalidAnswers.push(`${status} ${answer}\nfor ${JSON.stringify(headers)}\n${body.toString('base64')}`);
    if (status !== 201) return;
    const key = headers['idempotency-key'];
    if (key === undefined) receipts += 1;
    else keys.add(key.replace(/^"(.*)"$/, '$1'));
  }

  /** Sends requests 32 at a time. */
  async function sendAll(requests: Iterator<FuzzedRequest>): Promise<void> {
    const work = async (): Promise<void> => {
      for (let next = requests.next(); next.done !== true; next = requests.next()) await send(next.value);
    };
    await Promise.all(Array.from({ length: 32 }, work));
  }

  function* batches(count: number, size: number): Generator<FuzzedRequest> {
    for (let index = 0; index < count; index += size) yield* schemaAware(seed + index, size);
  }

  function* mutations(count: number): Generator<FuzzedRequest> {
    const random = new Random(seed);
    for (let index = 0; index < count; index += 1) yield mutated(random);
  }

  it(`60,000 bodies and headers that know the schema get documented answers, SEED=${seed}`, async () => {
    await sendAll(batches(60_000, 1_000));
    expect(invalidAnswers.slice(0, 3)).to.deep.equal([]);
    expect([...statuses.keys()]).to.include.members([201, 400, 415]);
  });

  it(`40,000 bodies with changed bytes get documented answers, SEED=${seed}`, async () => {
    await sendAll(mutations(40_000));
    expect(invalidAnswers.slice(0, 3)).to.deep.equal([]);
  });

  it(`3,000 requests with changed bytes anywhere are answered or cut off, SEED=${seed}`, async () => {
    const random = new Random(seed + 1);
    const head = [
      'POST /v1/register/ HTTP/1.1',
      'Host: x',
      `token: ${token}`,
      'X-Forwarded-Proto: https',
      'Content-Type: application/json',
      'Connection: close',
    ];
    const body = Buffer.from(JSON.stringify({ automation_id: 'not a UUID', execution_id: 'raw', event: 'START' }));
    const valid = Buffer.concat([Buffer.from([...head, `Content-Length: ${body.length}`, '', ''].join('\r\n')), body]);
    for (let sent = 0; sent < 3_000; sent += 100) {
      const exchanges = Array.from({ length: 100 }, async () => {
        using connection = await RawConnection.open(port);
        const bytes = Buffer.from(valid);
        for (let count = random.int(1, 5); count > 0; count -= 1)
          bytes[random.int(0, bytes.length - 1)] = random.int(0, 255);
        connection.send(bytes);
        // A changed length may leave the server waiting for more.
        await settledWithin(300, connection.closed);
        return connection.received;
      });
      expect((await Promise.all(exchanges)).join('\n')).to.not.match(/^HTTP\/1\.1 5/m);
    }
  });

  it('every receipt is a row, nothing else is, and nothing became a dead letter', async () => {
    await system.drained();
    const count = async (sql: string, values: unknown[] = []): Promise<number> =>
      Number((await system.query<{ count: string }>(sql, values))[0]?.count);
    expect(await count('select count(*) from dead_letters')).to.equal(0);
    expect(await count('select count(*) from events where automation_id = any($1::uuid[])', [automations])).to.be.above(
      10_000,
    );
    expect(await count('select count(*) from events')).to.equal(receipts + keys.size);
    expect(system.crashes).to.equal(0);
    console.log(`      ${JSON.stringify(Object.fromEntries(statuses))}`);
  });
});
