import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { overflowQueue } from '../../internal/queue/keys/keys.ts';
import { readQueueClock } from '../../internal/queue/clocks/queue-clock.ts';
import { connect, disconnect } from '../../internal/queue/ioredis-quirks.ts';
import { createProducerRedis } from '../../internal/queue/redis.ts';
import type { Authentication } from '../../internal/cluster/tokens/token-source.ts';
import type { Answer } from '../support/api-client.ts';
import { Callers } from '../support/callers.ts';
import { anEvent } from '../support/events.ts';
import { startIngest, startWorker, type RunningIngest } from '../support/pipeline.ts';
import { freePort } from '../support/free-port.ts';
import { expectProblem } from '../support/problem.ts';
import { plainJob, withQueue } from '../support/queue.ts';
import type { RedisServer } from '../support/redis-server.ts';
import { expectStored, figure, storedMarks } from '../support/rows.ts';
import { RunledgerProcess } from '../support/runledger-process.ts';
import { emptyRedis } from '../support/servers.ts';
import { migratedUrl, openSession } from '../support/store.ts';
import { storedEvents } from '../support/suite-ingest.ts';
import { until } from '../support/until.ts';

const lane = overflowQueue('events');
const automation = randomUUID();

/** A token is the name of its organization. */
function authenticate(organization: string): Authentication {
  return { status: 'known', organization, scope: 'write', tokenId: organization };
}

interface Sent {
  answer: Answer;
  marks: string[];
}

let sentSoFar = 0;

/** Sends events with marks of their own, in one request. */
async function send(ingest: RunningIngest, organization: string, count: number, name = 'mark'): Promise<Sent> {
  const marks = Array.from({ length: count }, () => `${name} ${(sentSoFar += 1)}`);
  const body = marks.map((mark) => ({
    automation_id: automation,
    execution_id: `run ${mark}`,
    event: 'EVENT',
    description: mark,
  }));
  const answer = await ingest.client.send({
    method: 'POST',
    path: '/v1/register/bulk/',
    headers: { token: organization, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { answer, marks };
}

describe('the overflow lane of a flood', function () {
  this.timeout(60_000);
  let redis: RedisServer;
  let database: string;
  beforeEach(async () => {
    redis = await emptyRedis();
    database = await migratedUrl();
  });
  /** One event a second: a request of 200 keeps its organization in the lane for minutes. */
  const ingestOf = (settings: Record<string, string> = {}) =>
    startIngest({ REDIS_URL: redis.url, OVERFLOW_RATE: '1', ...settings }, authenticate);
  const workerOf = (settings: Record<string, string> = {}) =>
    startWorker({ REDIS_URL: redis.url, DATABASE_URL: database, ...settings }, { migrate: false });

  it('holds what is beyond the share of an organization; each event is stored once, by whatever lane', async () => {
    await using ingest = await ingestOf();
    const within = await send(ingest, 'acme', 200);
    const beyond = await send(ingest, 'acme', 20);
    const others = await send(ingest, 'globex', 10);
    const keyed = { token: 'acme', 'idempotency-key': 'a', 'content-type': 'application/json' };
    const repeat = () =>
      ingest.client.register(
        { automation_id: automation, execution_id: 'keyed', event: 'START', description: 'keyed' },
        keyed,
      );
    const [first, again] = [await repeat(), await repeat()];
    expect([within, beyond, others].map(({ answer }) => answer.status)).to.deep.equal([201, 201, 201]);
    expect([again.status, again.body]).to.deep.equal([201, first.body]);
    const marksIn = async (queue: string) => (await storedEvents(redis.url, queue)).map((event) => event.description);
    expect(await marksIn('events')).to.deep.equal([...within.marks, ...others.marks]);
    expect(await marksIn(lane)).to.deep.equal([...beyond.marks, 'keyed']);

    const { registry } = ingest.telemetry;
    expect(await figure(registry, 'runledger_overflowed_events_total', { organization: 'acme' })).to.equal(21);
    expect(await figure(registry, 'runledger_overflow_events')).to.equal(21);
    expect(await figure(registry, 'runledger_queue_events')).to.equal(231);
    expect(await figure(registry, 'runledger_events_accepted_total')).to.equal(231);
    const controller = createProducerRedis(redis.url);
    await connect(controller);
    const { overflow, oldestAt } = await readQueueClock(controller, 'events');
    await disconnect(controller);
    expect(overflow?.organizations).to.deep.equal(['acme']);
    expect(overflow?.oldestAt).to.be.at.least(oldestAt ?? Infinity);

    // A caller that got no answer may have put its event into each lane.
    const twice = plainJob([anEvent({ description: 'twice' })]);
    for (const queue of ['events', lane]) await withQueue(redis.url, (given) => given.add('1 events', twice), queue);
    await using worker = await workerOf();
    const marks = [within, beyond, others].flatMap((sent) => sent.marks);
    await expectStored(database, [...marks, 'keyed', 'twice']);
    await until('no event is queued', async () => (await figure(registry, 'runledger_queue_events')) === 0);
    const stored = (name: string) => figure(worker.telemetry.registry, `runledger_${name}`);
    expect([await stored('events_stored_total'), await stored('events_duplicate_total')]).to.deep.equal([232, 1]);
  });

  it('delays nobody else, also while no statement of the flood ends', async () => {
    await using session = await openSession(database);
    // A statement with an event of the flood waits until the test lets it pass.
    await session.query(`create function wait() returns trigger language plpgsql as
      $$ begin perform pg_advisory_xact_lock_shared(7); return new; end $$`);
    await session.query(`create trigger wait before insert on events for each row
      when (new.description like 'flood%') execute function wait()`);
    await session.query('select pg_advisory_lock(7)');
    await using ingest = await ingestOf();
    await using _worker = await workerOf();
    const within = await send(ingest, 'flooding', 200, 'within');
    const flood: Sent[] = [];
    for (let round = 0; round < 10; round += 1) flood.push(await send(ingest, 'flooding', 500, 'flood'));
    const others: Sent[] = [];
    for (let each = 0; each < 20; each += 1) others.push(await send(ingest, `other ${each}`, 1));
    expect([...flood, ...others].every(({ answer }) => answer.status === 201)).to.equal(true);
    await expectStored(
      database,
      [within, ...others].flatMap(({ marks }) => marks),
    );
    expect((await storedMarks(database)).some((mark) => mark.startsWith('flood'))).to.equal(false);
    await session.query('select pg_advisory_unlock(7)');
    await expectStored(
      database,
      flood.flatMap(({ marks }) => marks),
    );
  });

  it('loses nothing when a worker is killed and ingest restarts in the middle of it', async () => {
    // Soon another worker takes the jobs of the one that is killed.
    const lockMs = { JOB_LOCK_MS: '2000' };
    let ingest = await ingestOf();
    const killed = new RunledgerProcess('worker', {
      REDIS_URL: redis.url,
      DATABASE_URL: database,
      OPS_PORT: String(await freePort()),
      ...lockMs,
    });
    const callers = new Callers(ingest.client, 4, (event) =>
      ingest.client.register(event, {
        token: 'acme',
        'idempotency-key': String(event['description']).replace(' ', '-'),
      }),
    );
    try {
      await killed.ready();
      await until('events are stored', async () => (await storedMarks(database)).length > 50);
      await killed.child.kill('SIGKILL');
      const before = ingest;
      ingest = await ingestOf();
      await before.stop();
      const soFar = callers.accepted.length;
      await using _worker = await workerOf(lockMs);
      await until('more are accepted', () => callers.accepted.length > soFar + 50);
      await callers.stop();
      await expectStored(database, callers.accepted);
      const { registry } = ingest.telemetry;
      expect(await figure(registry, 'runledger_overflowed_events_total')).to.be.above(0);
      await until('the lane is empty', async () => (await figure(registry, 'runledger_overflow_events')) === 0);
    } finally {
      await callers.stop();
      await killed.child.kill('SIGKILL');
      await ingest.stop();
    }
  });

  it('rejects only the flood once it is full, and says when to repeat the request', async () => {
    await using ingest = await ingestOf({ OVERFLOW_SHARE: '0.01', BACKLOG_MAX_JOBS: '100' });
    const refused = await until('a request is rejected', async () => {
      const { answer } = await send(ingest, 'acme', 500);
      return answer.status === 201 ? undefined : answer;
    });
    expectProblem(refused, 429, 'too-many-requests');
    const { 'retry-after': wait, ratelimit, 'ratelimit-policy': policy } = refused.headers;
    expect(Number(wait)).to.be.within(400, 500);
    expect([ratelimit, policy]).to.deep.equal([`"overflow";r=0;t=${wait}`, '"overflow";q=1;w=1']);
    // Its body is not read.
    expectProblem(await ingest.client.register('{', { token: 'acme' }), 429, 'too-many-requests');
    for (const other of ['globex', 'initech']) expect((await send(ingest, other, 1)).answer.status).to.equal(201);
    const { registry } = ingest.telemetry;
    const limited = 'runledger_organization_limited_requests_total';
    expect(await figure(registry, limited, { organization: 'acme' })).to.be.at.least(1);
    expect(await figure(registry, limited, { organization: 'globex' })).to.equal(0);
    // A 503 would be a gap in the record of all organizations.
    expect(await figure(registry, 'runledger_rejections_total')).to.equal(0);
    await using _worker = await workerOf();
    await until('the lane takes events again', async () => (await send(ingest, 'acme', 500)).answer.status === 201);
  });
});
