import { expect } from 'chai';
import { executionsOf, keyText } from '../../support/outcome-oracle.ts';
import { Child } from '../../support/child.ts';
import { anEvent } from '../../support/events.ts';
import { jobCounts, plainJob, withQueue } from '../../support/queue.ts';
import { expectStored, storedMarks } from '../../support/rows.ts';
import { emptyRedis } from '../../support/servers.ts';
import { migratedDatabase, storedExecutions } from '../../support/store.ts';
import { until } from '../../support/until.ts';

const kinds = ['START', 'EVENT', 'WARNING', 'END', 'ERROR'] as const;

/** 3,000 events of 300 executions, in jobs of ten. */
const events = Array.from({ length: 3_000 }, (_, index) =>
  anEvent({ description: String(index), executionId: `run ${index % 300}`, kind: kinds[index % 7] ?? 'EVENT' }),
);

describe('workers that die', function () {
  this.timeout(60_000);

  /**
   * Two worker processes on a queue full of jobs; `harm` happens to the first once it has begun.
   */
  async function survive(harm: (first: Child) => Promise<void>): Promise<void> {
    const redis = await emptyRedis();
    await using database = await migratedDatabase();
    await withQueue(redis.url, (queue) =>
      queue.addBulk(
        Array.from({ length: 300 }, (_, job) => ({
          name: 'events',
          data: plainJob(events.slice(job * 10, job * 10 + 10)),
        })),
      ),
    );
    const env = {
      PATH: process.env['PATH'],
      REDIS_URL: redis.url,
      DATABASE_URL: database.url,
      OPS_PORT: '0',
      JOB_LOCK_MS: '1000',
      WORKER_CONCURRENCY: '4',
      STORE_BATCH_EVENTS: '10',
    };
    const workers = [1, 2].map(() => new Child(process.execPath, ['cmd/worker/main.ts'], { env }));
    const [first] = workers;
    try {
      await until('the first rows', async () => ((await storedMarks(database.url)).length > 0 ? true : undefined));
      if (first !== undefined) await harm(first);
      await expectStored(
        database.url,
        events.map(({ description }) => description),
        20_000,
      );
      await until('all jobs are done', async () => {
        const { wait, active, delayed } = await jobCounts(redis);
        return wait + active + delayed === 0 ? true : undefined;
      });
    } finally {
      await Promise.all(workers.map((worker) => worker.kill('SIGKILL')));
    }
    expect(await jobCounts(redis)).to.include({ failed: 0 });
    const byKey = (list: Awaited<ReturnType<typeof storedExecutions>>) =>
      new Map(list.map((one) => [keyText(one), one]));
    expect(byKey(await storedExecutions(database.db))).to.deep.equal(executionsOf(events));
  }

  it('lose and double nothing: one of two killed in the middle', async () => {
    await survive(async (first) => {
      await first.kill('SIGKILL');
    });
  });

  it('lose and double nothing: one of two frozen for longer than its locks last, then woken', async () => {
    await survive(async (first) => {
      first.process.kill('SIGSTOP');
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      first.process.kill('SIGCONT');
    });
  });
});
