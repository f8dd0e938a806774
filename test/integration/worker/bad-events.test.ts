import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import type { AcceptedEvent } from '../../../internal/event/event.ts';
import { encodeJob } from '../../../internal/queue/job/job-encoder.ts';
import { queueKey } from '../../../internal/queue/keys/keys.ts';
import { readQueueClock } from '../../../internal/queue/clocks/queue-clock.ts';
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
      const alone = anEvent({ executionId: randomBytes(3_000).toString('hex'), description: 'bad alone' });
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
      'bad alone': '54000',
    });
    const { registry } = worker.telemetry;
    expect(await figure(registry, 'runledger_events_stored_total')).to.equal(60);
    expect(await figure(registry, 'runledger_events_dead_lettered_total', { reason: '22P02' })).to.equal(2);
    expect(await figure(registry, 'runledger_events_dead_lettered_total')).to.equal(4);
  });

  it('jobs of a newer release are kept, counted, and stored once they can be read', async () => {
    const [redis, database] = await Promise.all([emptyRedis(), migratedUrl()]);
    const event = anEvent({ description: 'from the future' });
    const id = await withQueue(redis.url, async (queue) => {
      const newer = await queue.add('events', { v: 2, rows: [] });
      await queue.add('events', plainJob([anEvent({ kind: 'PAUSE' as AcceptedEvent['kind'] })]));
      await queue.add('events', plainJob([anEvent({ description: 'readable' })]));
      return newer.id;
    });
    await using worker = await startWorker({ REDIS_URL: redis.url, DATABASE_URL: database });
    await expectStored(database, ['readable']);
    await jobsBecome(redis, { ...none, delayed: 2 });
    expect(await figure(worker.telemetry.registry, 'runledger_jobs_unreadable_total')).to.be.at.least(2);

    await withQueue(redis.url, async (queue) => {
      const job = await queue.getJob(String(id));
      expect(job).to.include({ attemptsMade: 0 });
      await job?.updateData(plainJob([event]));
      await job?.promote();
    });
    await expectStored(database, ['readable', 'from the future']);
    await jobsBecome(redis, { ...none, delayed: 1 });
    expect(await query(database, 'select * from dead_letters')).to.deep.equal([]);
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
      // By its own clock this worker takes the job again at once, so the list of delayed jobs shows
      // it for a moment only. BullMQ's stream keeps until when it was delayed.
      const due = await until('it is delayed', async () => {
        const entries = await redis.use((client) => client.xrevrange(queueKey('events', 'events'), '+', '-'));
        const delayed = entries.find(([, fields]) => fields[1] === 'delayed' && fields[3] === id);
        return delayed !== undefined && Number(delayed[1][5]);
      });
      expect(due).to.be.below(Date.now() + 31_000);
    } finally {
      await worker.child.kill('SIGKILL');
      forgetProcess(worker.child.process.pid);
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('damaged jobs are set aside whole, leave a gap in the record, and are stored once they are repaired', async () => {
    const [redis, database] = await Promise.all([emptyRedis(), migratedUrl()]);
    const events = Array.from({ length: 60 }, (_, index) => anEvent({ description: `of a damaged job ${index}` }));
    const sound = JSON.stringify(encodeJob(events));
    // A bit in the middle of the frame, with which it decompresses to other texts or not at all.
    const flipped = sound.slice(0, 200) + String.fromCharCode(sound.charCodeAt(200) ^ 1) + sound.slice(201);
    const damages: Record<string, (job: string) => Promise<unknown>> = {
      'a flipped bit': (job) => redis.command('hset', job, 'data', flipped),
      'no JSON': (job) => redis.command('hset', job, 'data', sound.slice(0, -7)),
      'no data': (job) => redis.command('hdel', job, 'data'),
      'damaged options too': (job) => redis.command('hset', job, 'data', flipped, 'opts', '{"attempts'),
    };
    const ids = await withQueue(redis.url, async (queue) => {
      const added = [];
      for (const damage of Object.values(damages)) {
        const { id } = await queue.add('events', plainJob(events));
        await damage(`{runledger}:events:${id}`);
        added.push(String(id));
      }
      await queue.add('events', plainJob([anEvent({ description: 'behind them' })]));
      return added;
    });
    await using worker = await startWorker({ REDIS_URL: redis.url, DATABASE_URL: database });
    await expectStored(database, ['behind them']);
    await jobsBecome(redis, { ...none, failed: ids.length });
    expect(await query(database, 'select description from events')).to.deep.equal([{ description: 'behind them' }]);
    const { registry } = worker.telemetry;
    expect(await figure(registry, 'runledger_jobs_set_aside_total', { reason: 'damaged' })).to.equal(ids.length);
    const clock = await redis.use((client) => readQueueClock(client, 'events'));
    expect(clock.oldestAt).to.equal(undefined);
    expect(
      clock.gaps.filter(({ from, until }) => events.every(({ createdAt }) => from < createdAt && createdAt <= until)),
    ).to.have.length(ids.length);

    const [repaired = ''] = ids;
    expect(await redis.use((client) => client.hget(`{runledger}:events:${repaired}`, 'data'))).to.equal(flipped);
    await redis.command('hset', `{runledger}:events:${repaired}`, 'data', sound);
    const runbook = await readFile('docs/operate/runbooks/RunledgerJobsSetAside.md', 'utf8');
    const fields = /HDEL "\$Q:7" (.*)/.exec(runbook)?.[1]?.split(' ') ?? [];
    await redis.command('hdel', `{runledger}:events:${repaired}`, ...fields);
    const script = /EVAL "(.*)" 3/.exec(runbook)?.[1] ?? '';
    const keys = ['failed', 'wait', 'marker'].map((part) => `{runledger}:events:${part}`);
    await redis.command('eval', script, '3', ...keys, repaired);
    await expectStored(database, ['behind them', ...events.map(({ description }) => description)]);
    await jobsBecome(redis, { ...none, failed: ids.length - 1 });
  });
});
