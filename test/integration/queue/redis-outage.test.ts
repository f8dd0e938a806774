import { expect } from 'chai';
import { Callers } from '../../support/callers.ts';
import { startIngest, startWorker, type RunningIngest } from '../../support/pipeline.ts';
import { jobCounts } from '../../support/queue.ts';
import { RedisServer } from '../../support/redis-server.ts';
import { startReplica } from '../../support/replica.ts';
import { Forwarder } from '../../support/forwarder.ts';
import { expectStored } from '../../support/rows.ts';
import { migratedUrl } from '../../support/store.ts';
import { storedEvents } from '../../support/suite-ingest.ts';
import { until } from '../../support/until.ts';

/** A check that fell into a pause of the machine says otherwise until the next one. */
const recovered = (ingest: RunningIngest) =>
  until('ingest has recovered', () => Object.keys(ingest.degraded()).length === 0);

describe('an outage of Redis', function () {
  this.timeout(60_000);
  let redis: RedisServer;
  beforeEach(async () => {
    redis = await RedisServer.start();
  });
  afterEach(() => redis.stop());

  it('in which Redis is frozen, under load: 201 or a 503 that does not wait for it, each 201 is a row, and both sides resume', async () => {
    const settings = { REDIS_URL: redis.url, DATABASE_URL: await migratedUrl(), JOB_LOCK_MS: '1000' };
    await using worker = await startWorker(settings);
    await using ingest = await startIngest(settings);
    expect(worker).to.not.equal(undefined);
    const callers = new Callers(ingest.client, 16);
    for (let round = 0; round < 2; round += 1) {
      await callers.more(201, 100);
      redis.signal('SIGSTOP');
      // Each of these gets its answer while Redis is frozen.
      const pending = new Callers(ingest.client, 16);
      await pending.stop();
      expect(pending.statuses).to.deep.equal({ 503: 16 });
      await callers.more(503, 40);
      redis.signal('SIGCONT');
      await callers.more(201, 100);
    }
    await callers.stop();

    expect(Object.keys(callers.statuses)).to.deep.equal(['201', '503']);
    await recovered(ingest);
    await expectStored(settings.DATABASE_URL, callers.accepted);
  });

  it('that ends with another server at the address: none of its events goes there before it is known to keep them', async () => {
    await using ingest = await startIngest({ REDIS_URL: redis.url, REQUIRE_DURABLE_REDIS: 'true' });
    const callers = new Callers(ingest.client, 8);
    for (let round = 0; round < 3; round += 1) {
      await callers.more(201, 20);
      await redis.kill();
      await redis.startAgain(['--appendonly', 'no']);
      await until('it is known', () => ingest.degraded()['redis']?.includes('appendonly is no') || undefined);
      expect(await jobCounts(redis)).to.include({ wait: 0 });
      await redis.kill();
      await redis.startAgain();
    }
    await callers.stop();
    expect(await storedEvents(redis.url)).to.have.length.at.least(callers.accepted.length);
  });

  it('by a failover that leaves connections to the old master standing: both sides go to the new one', async () => {
    await using replica = await startReplica(redis);
    await using address = await Forwarder.start(redis.port);
    const settings = {
      REDIS_URL: `redis://127.0.0.1:${address.port}`,
      DATABASE_URL: await migratedUrl(),
      JOB_LOCK_MS: '1000',
    };
    await using worker = await startWorker(settings);
    await using ingest = await startIngest(settings);
    expect(worker).to.not.equal(undefined);
    const callers = new Callers(ingest.client, 4);
    await callers.more(201, 50);
    await callers.stop();
    await expectStored(settings.DATABASE_URL, callers.accepted);

    await replica.server.command('replicaof', 'no', 'one');
    await redis.command('replicaof', '127.0.0.1', String(replica.server.port));
    await until('it is known', () => ingest.degraded()['redis']?.includes('Redis is a replica') || undefined);
    address.target = replica.server.port;
    const after = new Callers(ingest.client, 4);
    await after.more(201, 50);
    await after.stop();
    await recovered(ingest);
    await expectStored(settings.DATABASE_URL, [...callers.accepted, ...after.accepted]);
  });

  it('at the start of ingest and worker: they start, say so, and work once Redis is there', async () => {
    const settings = { REDIS_URL: redis.url, DATABASE_URL: await migratedUrl(), JOB_LOCK_MS: '1000' };
    await redis.kill();
    await using worker = await startWorker(settings);
    await using ingest = await startIngest(settings);
    expect(worker).to.not.equal(undefined);
    const said = () => /^Redis does not answer: .*ECONNREFUSED/.test(ingest.degraded()['redis'] ?? '');
    await until('ingest says so', said);
    const callers = new Callers(ingest.client, 2);
    await callers.more(503, 10);
    await redis.startAgain();
    await callers.more(201, 10);
    await callers.stop();
    await recovered(ingest);
    await expectStored(settings.DATABASE_URL, callers.accepted);
  });

  it('does not keep ingest and worker from stopping', async () => {
    const settings = { REDIS_URL: redis.url, DATABASE_URL: await migratedUrl(), JOB_LOCK_MS: '1000' };
    const started = async () => [await startWorker(settings), await startIngest(settings)];
    const connected = await started();
    await redis.kill();
    const never = await started();
    await Promise.all([...connected, ...never].map((process) => process[Symbol.asyncDispose]()));
  });
});
