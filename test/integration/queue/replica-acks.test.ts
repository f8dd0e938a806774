import { expect } from 'chai';
import { eventBody } from '../../support/events.ts';
import { startIngest, type RunningIngest } from '../../support/pipeline.ts';
import { jobCounts } from '../../support/queue.ts';
import { RedisServer } from '../../support/redis-server.ts';
import { follow, replicasOf, replicated } from '../../support/replica.ts';
import { figure } from '../../support/rows.ts';
import { storedEvents } from '../../support/suite-ingest.ts';
import { until } from '../../support/until.ts';

const lacking = 'Redis has 0 of the 1 replicas that REDIS_ACKS requires.';

describe('a 201 with REDIS_ACKS', function () {
  this.timeout(60_000);
  let redis: RedisServer;
  let replica: RedisServer;
  let ingest: RunningIngest;
  const rejected = (reason: string): Promise<number> =>
    figure(ingest.telemetry.registry, 'runledger_rejections_total', { reason });

  before(async () => {
    [redis, replica] = await Promise.all([RedisServer.start(replicated), RedisServer.start(replicated)]);
    ingest = await startIngest({ REDIS_URL: redis.url, REDIS_ACKS: '1' });
  });
  afterEach(() => ingest.client.close());
  after(async () => {
    await ingest.stop();
    await Promise.all([replica.stop(), redis.stop()]);
  });

  it('waits for a replica: without one ingest is not ready', async () => {
    expect(ingest.unready()['redis']).to.equal(lacking);
    expect(await ingest.client.register(eventBody())).to.include({ status: 503 });
    expect(await rejected('redis-replicas')).to.equal(1);
    await follow(replica, redis);
    await until('ready', () => ingest.unready()['redis'] === undefined);
    expect(await figure(ingest.telemetry.registry, 'runledger_redis_replicas')).to.equal(1);
  });

  it('means that the replica has the event', async () => {
    for (let sent = 1; sent <= 20; sent += 1) {
      expect(await ingest.client.register(eventBody())).to.include({ status: 201 });
      expect((await jobCounts(replica)).wait).to.equal(sent);
    }
  });

  it('is not given while the replica is silent, and a retry with the key is the same event', async () => {
    await redis.command('flushall');
    const body = eventBody();
    const register = () => ingest.client.register(body, { 'idempotency-key': 'k' });
    replica.signal('SIGSTOP');
    const { status, headers } = await register();
    expect([status, headers['retry-after']]).to.deep.equal([503, '1']);
    // On a busy machine the time-out of the command may come first.
    expect((await rejected('unacknowledged')) + (await rejected('commit-failed'))).to.equal(1);

    replica.signal('SIGCONT');
    await until('201 again', async () => (await register()).status === 201);
    const stored = await storedEvents(redis.url);
    expect(new Set(stored.map(({ id }) => id)).size, 'events of one key').to.equal(1);
  });

  it('is not given when Redis added the event after it asked its replicas', async () => {
    const before = await rejected('unacknowledged');
    await redis.command('script', 'flush');
    expect(await ingest.client.register(eventBody())).to.include({ status: 503 });
    expect(await rejected('unacknowledged')).to.equal(before + 1);
    expect(await ingest.client.register(eventBody())).to.include({ status: 201 });
  });

  it('is not given without the replica, but the pod stays ready', async () => {
    await replica.kill();
    await until('none is left', async () => (await replicasOf(redis)) === 0);
    await until('it is known', () => ingest.degraded()['redis'] === lacking);
    expect(ingest.unready()).to.deep.equal({});
    expect(await ingest.client.register(eventBody())).to.include({ status: 503 });
  });
});
