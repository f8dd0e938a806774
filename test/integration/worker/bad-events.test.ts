import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import type { AcceptedEvent } from '../../../internal/event/event.ts';
import { queueKey } from '../../../internal/queue/keys.ts';
import { anEvent } from '../../support/events.ts';
import { Clock, clocksCanStep, forgetProcess } from '../../support/fault/clock.ts';
import { freePort } from '../../support/free-port.ts';
import { startWorker } from '../../support/pipeline.ts';
import { query } from '../../support/postgres-server.ts';
import { jobCounts, plainJob, withQueue } from '../../support/queue.ts';
import type { RedisServer } from '../../support/redis-server.ts';
import { expectStored, figure } from '../../support/rows.ts';
import { RunledgerProcess } from '../../support/runledger-process.ts';
import { emptyRedis } from '../../support/servers.ts';
import { migratedUrl } from '../../support/store.ts';
import { until } from '../../support/until.ts';

const none = { wait: 0, active: 0, delayed: 0, failed: 0 };

/** A row is there before its job ends, and a job that ended before the next one is taken. */
const jobsBecome = (redis: RedisServer, counts: typeof none) =>
  until(`the jobs ${JSON.stringify(counts)}`, async () => isDeepStrictEqual(await jobCounts(redis), counts));

describe('jobs that hold what they should not', () => {
  it('bad events become dead letters with their reason, their neighbours are stored, no job fails', async () => {
    const [redis, database] = await Promise.all([emptyRedis(), migratedUrl()]);
    const bad: Partial<AcceptedEvent>[] = [{ errorDescription: 'a\0b' }, { id: 'no uuid' }, { automationId: '{}' }];
    const good = Array.from({ length: 60 }, (_, index) =>
      anEvent({ description: String(index), executionId: `run ${index % 7}` }),
    );
    const mixed = good.flatMap((event, index) => {
      const fields = bad[index / 20];
      return fields === undefined ? [event] : [anEvent({ ...fields, description: `bad ${index}` }), event];
    });
    await withQueue(redis.url, async (queue) => {
      await queue.add('events', plainJob(mixed.slice(0, 40)));
      await queue.add('events', plainJob(mixed.slice(40)));
      const alone = anEvent({ kind: 'PAUSE' as AcceptedEvent['kind'], description: 'bad alone' });
      await queue.add('events', plainJob([alone]));
    });
    await using worker = await startWorker({ REDIS_URL: redis.url, DATABASE_URL: database });
    await expectStored(
      database,
      good.map(({ description }) => description),
    );
    await jobsBecome(redis, none);

    const text = `select left(reason, 5) as reason, convert_from(event, 'UTF8')::json as event from dead_letters`;
    const reasons = (await query(database, text)).map((row) => [
      (row['event'] as AcceptedEvent).description,
      row['reason'],
    ]);
    expect(Object.fromEntries(reasons)).to.deep.equal({
      'bad 0': '22021',
      'bad 20': '22P02',
      'bad 40': '22P02',
      'bad alone': '23514',
    });
    const { registry } = worker.telemetry;
    expect(await figure(registry, 'runledger_events_stored_total')).to.equal(60);
    expect(await figure(registry, 'runledger_events_dead_lettered_total', { reason: '22P02' })).to.equal(2);
    expect(await figure(registry, 'runledger_events_dead_lettered_total')).to.equal(4);
  });

  it('jobs of a newer release and damaged ones are kept, counted, and stored once they can be read', async () => {
    const [redis, database] = await Promise.all([emptyRedis(), migratedUrl()]);
    const event = anEvent({ description: 'from the future' });
    const ids = await withQueue(redis.url, async (queue) => {
      const newer = await queue.add('events', { v: 3, rows: [] });
      const damaged = await queue.add('events', { v: 1, zstd: 'AAAA' });
      await queue.add('events', plainJob([anEvent({ description: 'readable' })]));
      return [newer.id, damaged.id];
    });
    await using worker = await startWorker({ REDIS_URL: redis.url, DATABASE_URL: database });
    await expectStored(database, ['readable']);
    await jobsBecome(redis, { ...none, delayed: 2 });
    expect(await figure(worker.telemetry.registry, 'runledger_jobs_unreadable_total')).to.equal(2);

    await withQueue(redis.url, async (queue) => {
      for (const id of ids) {
        const job = await queue.getJob(String(id));
        expect(job).to.include({ attemptsMade: 0 });
        await job?.updateData(plainJob([event]));
        await job?.promote();
      }
    });
    await expectStored(database, ['readable', 'from the future']);
    await jobsBecome(redis, none);
    expect(await figure(worker.telemetry.registry, 'runledger_events_duplicate_total')).to.equal(1);
  });

  it('a job that cannot be read is offered again soon, also by a worker whose clock is a year ahead', async function () {
    if (!clocksCanStep) this.skip();
    const [redis, database] = await Promise.all([emptyRedis(), migratedUrl()]);
    const folder = await mkdtemp(join(tmpdir(), 'runledger-clock-'));
    const clock = new Clock(join(folder, 'clock'));
    clock.step(365 * 86_400);
    const settings = { REDIS_URL: redis.url, DATABASE_URL: database, OPS_PORT: String(await freePort()) };
    const worker = new RunledgerProcess('worker', { ...clock.environment, ...settings });
    try {
      await worker.ready();
      const { id = '' } = await withQueue(redis.url, (queue) => queue.add('events', { v: 3, rows: [] }));
      const due = await until('it is kept', async () => {
        const score = await redis.command('zscore', queueKey('events', 'delayed'), id);
        return score !== null && Number(score) / 0x1000;
      });
      expect(due).to.be.within(Date.now(), Date.now() + 31_000);
    } finally {
      await worker.child.kill('SIGKILL');
      forgetProcess(worker.child.process.pid);
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('a job that is not even JSON is never lost, and delays no other', async () => {
    const [redis, database] = await Promise.all([emptyRedis(), migratedUrl()]);
    const id = await withQueue(redis.url, async (queue) => {
      const { id } = await queue.add('events', { v: 1, rows: [] });
      await queue.add('events', plainJob([anEvent({ description: 'behind it' })]));
      return id;
    });
    await redis.command('hset', `{runledger}:events:${id}`, 'data', 'not JSON');
    {
      await using worker = await startWorker({ REDIS_URL: redis.url, DATABASE_URL: database, JOB_LOCK_MS: '1000' });
      await expectStored(database, ['behind it']);
      const recovered = () => figure(worker.telemetry.registry, 'runledger_jobs_stalled_total');
      await until('it is tried again', async () => (await recovered()) > 0);
    }
    const { wait, active, failed } = await jobCounts(redis);
    expect([wait + active, failed]).to.deep.equal([1, 0]);
  });
});
