import { readFile } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { parse } from 'yaml';
import type { AcceptedEvent } from '../../../internal/event/event.ts';
import { checksumOf } from '../../../internal/queue/job/job.ts';
import { encodeJob } from '../../../internal/queue/job/job-encoder.ts';
import { Cgroup } from '../../support/cgroup.ts';
import { anEvent } from '../../support/events.ts';
import { Forwarder } from '../../support/forwarder.ts';
import { freePort } from '../../support/free-port.ts';
import { query } from '../../support/postgres-server.ts';
import { jobCounts, withQueue } from '../../support/queue.ts';
import type { RedisServer } from '../../support/redis-server.ts';
import { RunledgerProcess } from '../../support/runledger-process.ts';
import { emptyRedis } from '../../support/servers.ts';
import { migratedUrl } from '../../support/store.ts';
import { until } from '../../support/until.ts';

const mebi = 1_024 * 1_024;

/** The limit that the chart gives a worker, in bytes. */
async function limitOfChart(): Promise<number> {
  const values = parse(await readFile('charts/runledger/values.yaml', 'utf8')) as {
    worker: { resources: { limits: { memory: string } } };
  };
  return Number(/^(\d+)Mi$/.exec(values.worker.resources.limits.memory)?.[1]) * mebi;
}

/** A worker as in the image, in a container of the chart's limit. */
async function startWorker(memory: Cgroup | undefined, redis: RedisServer, database: string, more = {}) {
  const own = { REDIS_URL: redis.url, DATABASE_URL: database, OPS_PORT: String(await freePort()) };
  const settings: NodeJS.ProcessEnv = { ...own, LOG_LEVEL: 'warn', ...more };
  return new RunledgerProcess('worker', settings, { memory });
}

/** Adds jobs as an ingest without bounds would: one at a time, since they are large here too. */
const add = (redis: RedisServer, jobs: Iterable<readonly AcceptedEvent[]>): Promise<void> =>
  withQueue(redis.url, async (queue) => {
    for (const events of jobs) await queue.add('events', encodeJob(events));
  });

function* manyJobs(jobs: number, events: number, text: (place: number) => string): Generator<AcceptedEvent[]> {
  for (let job = 0; job < jobs; job += 1) {
    yield Array.from({ length: events }, (_, place) =>
      anEvent({ kind: 'ERROR', executionId: `run ${job} ${place}`, errorDescription: text(place) }),
    );
  }
}

const countOf = async (database: string): Promise<number> =>
  Number((await query(database, 'select count(*)::integer as events from events'))[0]?.['events']);

const untilStored = (database: string, events: number): Promise<boolean> =>
  until(`${events} events are stored`, async () => (await countOf(database)) === events, 60_000);

describe('a worker of the size that the chart gives it', function () {
  this.timeout(240_000);

  let memory: Cgroup | undefined;
  let redis: RedisServer;
  let database: string;
  let worker: RunledgerProcess | undefined;

  beforeEach(async () => {
    memory = await Cgroup.create(await limitOfChart());
    [redis, database] = await Promise.all([emptyRedis(), migratedUrl()]);
  });

  afterEach(async () => {
    await worker?.child.kill('SIGKILL');
    await memory?.[Symbol.asyncDispose]();
  });

  it('stores jobs of a few KB that become 50 MB each', async () => {
    await add(
      redis,
      manyJobs(3, 500, () => 'x'.repeat(100_000)),
    );
    await add(redis, manyJobs(10, 20, String));
    worker = await startWorker(memory, redis, database);
    await untilStored(database, 1_700);
    expect(worker.child.alive).to.equal(true);
  });

  it('stores a job of 60 MB with two bytes a character, whatever the rest of the queue holds', async () => {
    await add(
      redis,
      manyJobs(1, 600, (place) => `${place} ✓${'x'.repeat(100_000)}`),
    );
    await add(
      redis,
      manyJobs(30, 20, () => randomBytes(50_000).toString('base64')),
    );
    worker = await startWorker(memory, redis, database);
    await untilStored(database, 1_200);
    expect(worker.child.alive).to.equal(true);
  });

  it('keeps what it holds within its memory while Postgres is unavailable, and stores it afterwards', async () => {
    // Of texts with two bytes a character, 2 MiB of JSON each.
    await add(
      redis,
      manyJobs(45, 20, () => `✓${randomBytes(50_000).toString('hex')}`),
    );
    await using network = await Forwarder.start(Number(new URL(database).port));
    network.cut();
    const through = Object.assign(new URL(database), { port: String(network.port) }).href;
    const limited = (worker = await startWorker(memory, redis, through));
    // Twelve jobs fill its room, and as many texts wait for it.
    await until('the worker takes no more jobs', async () => (await jobCounts(redis)).active >= 20, 60_000);
    await until('it has tried again', async () => (await limited.metric('runledger_store_retries_total')) >= 5);
    expect((await jobCounts(redis)).active).to.be.below(40);
    network.heal();
    await untilStored(database, 900);
    expect(limited.child.alive).to.equal(true);
  });

  it('sets a job aside that would become more than it can hold, and stores the others', async () => {
    // Says that it becomes nearly 1 GB, in 16 bytes.
    const zstd = Buffer.from('28b52ffde00000003000000000010000', 'hex').toString('base64');
    await withQueue(redis.url, (queue) => queue.add('events', { v: 1, sum: checksumOf(zstd), zstd }));
    await add(redis, manyJobs(1, 20, String));
    const limited = (worker = await startWorker(memory, redis, database));
    await untilStored(database, 20);
    await until('it is set aside', async () => (await jobCounts(redis)).failed === 1);
    expect(await limited.metric('runledger_jobs_set_aside_total')).to.equal(1);
  });

  it('sets a job aside that kills each worker, and stores all others', async function () {
    const small = await Cgroup.create(150 * mebi);
    if (small === undefined) this.skip();
    await using _removed = small;
    await add(
      redis,
      manyJobs(1, 500, (place) => `${place} ✓${'x'.repeat(100_000)}`),
    );
    await add(redis, manyJobs(3, 20, String));
    const setAside = async (): Promise<boolean> => (await jobCounts(redis)).failed === 1;
    // As the kubelet does.
    let restarts = 0;
    while (!(await setAside()) && restarts < 8) {
      restarts += 1;
      const restarted = (worker = await startWorker(small, redis, database, { JOB_LOCK_MS: '1000' }));
      await Promise.race([restarted.child.exited, until('the job is set aside', setAside, 60_000)]);
    }
    // A worker that a busy machine keeps waiting counts as frozen, and so as dead.
    expect(restarts).to.be.within(2, 5);
    await untilStored(database, 60);
    expect(worker?.child.alive).to.equal(true);
    await worker?.child.kill('SIGKILL');
  });
});
