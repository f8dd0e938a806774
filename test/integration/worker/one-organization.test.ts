import { expect } from 'chai';
import { anEvent } from '../../support/events.ts';
import { startWorker } from '../../support/pipeline.ts';
import { query } from '../../support/postgres-server.ts';
import { jobCounts, plainJob, withQueue } from '../../support/queue.ts';
import { figure } from '../../support/rows.ts';
import { emptyRedis } from '../../support/servers.ts';
import { migratedUrl, openSession } from '../../support/store.ts';
import { until } from '../../support/until.ts';

describe('statements of one organization', function () {
  this.timeout(60_000);

  it('are what a backlog is stored with where it fills them, each event counted once though one fails', async () => {
    const [redis, database] = await Promise.all([emptyRedis(), migratedUrl()]);
    const names = ['acme', 'globex'];
    const events = (organization: string, count: number) =>
      Array.from({ length: count }, (_, index) => anEvent({ organization, executionId: `run ${index}` }));
    const others = Array.from({ length: 8 }, (_, index) => anEvent({ organization: `small ${index}` }));
    const addJobs = (jobs: number, make: (job: number) => ReturnType<typeof events>) =>
      withQueue(redis.url, async (queue) => {
        for (let job = 0; job < jobs; job += 1) await queue.add('events', plainJob(make(job)));
      });
    await using worker = await startWorker({
      REDIS_URL: redis.url,
      DATABASE_URL: database,
      STORE_BATCH_EVENTS: '200',
      STORE_STATEMENTS_IN_FLIGHT: '1',
    });
    await using blocker = await openSession(database);
    await blocker.query('begin; lock table events in share mode');
    await addJobs(1, () => events('first', 1));
    const waiting = `select pid from pg_locks where relation = 'events'::regclass and not granted`;
    const pids = await until('a statement waits', async () => {
      const { rows } = await blocker.query<{ pid: number }>(waiting);
      return rows.length > 0 && rows.map(({ pid }) => pid);
    });
    await addJobs(8, (job) => [...names.flatMap((name) => events(name, 50)), ...(job === 7 ? others : [])]);
    await until('the worker has them', async () => (await jobCounts(redis)).active === 9);
    await blocker.query('select pg_terminate_backend(pid) from unnest($1::integer[]) as pid', [pids]);
    const retries = () => figure(worker.telemetry.registry, 'runledger_store_retries_total');
    await until('a retry', async () => (await retries()) > 0);
    await blocker.query('commit');

    await until('all is stored', async () => (await jobCounts(redis)).active === 0);
    const statements = await query<{ names: string[]; events: number }>(
      database,
      'select array_agg(distinct organization) as names, count(*)::integer as events from events group by xmin::text',
    );
    const large = statements.filter((statement) => statement.events >= 150);
    expect(large).to.have.deep.members([...names, ...names].map((name) => ({ names: [name], events: 200 })));
    expect(statements).to.have.lengthOf(6);
    const count = (name: string, labels = {}) => figure(worker.telemetry.registry, `runledger_${name}_total`, labels);
    expect([await count('events_stored'), await count('events_duplicate')]).to.deep.equal([809, 0]);
    const begun = { organization: 'acme', from: 'none', to: 'running' };
    expect(await count('execution_transitions', begun)).to.equal(50);
  });
});
