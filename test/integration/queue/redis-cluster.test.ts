import { expect } from 'chai';
import { queueKey } from '../../../internal/queue/keys.ts';
import { Callers } from '../../support/callers.ts';
import { failoverMs, reportFailover, startCallers } from '../../support/failover.ts';
import { freePort } from '../../support/free-port.ts';
import { startIngest, startWorker } from '../../support/pipeline.ts';
import { RedisCluster } from '../../support/redis-cluster.ts';
import { clustered, RedisServer } from '../../support/redis-server.ts';
import { roleOf } from '../../support/replica.ts';
import { expectStored } from '../../support/rows.ts';
import { emptyDatabase } from '../../support/servers.ts';
import { migratedUrl } from '../../support/store.ts';
import { until } from '../../support/until.ts';

describe('a Redis Cluster', () => {
  it('serves as the queue, durability and memory being those of its masters', async function () {
    this.timeout(60_000);
    const redis = await RedisServer.start([...clustered(await freePort()), '--maxmemory', '64mb']);
    try {
      await redis.command('cluster', 'addslotsrange', '0', '16383');
      await until('the cluster is up', async () =>
        String(await redis.command('cluster', 'info')).includes('cluster_state:ok'),
      );
      const settings = {
        REDIS_URL: `${redis.url},${redis.url}`,
        DATABASE_URL: await emptyDatabase(),
        REQUIRE_DURABLE_REDIS: 'true',
        JOB_LOCK_MS: '1000',
      };
      await using worker = await startWorker(settings);
      await using ingest = await startIngest(settings);
      expect(worker).to.not.equal(undefined);
      expect(ingest.degraded()).to.deep.equal({});
      const callers = new Callers(ingest.client, 4);
      await until('events', () => callers.accepted.length > 50);
      await redis.kill();
      await until('503', () => (callers.statuses[503] ?? 0) > 10);
      await redis.startAgain();
      const before = callers.accepted.length;
      await until('201 again', () => callers.accepted.length > before + 20);
      await callers.stop();
      expect(Object.keys(callers.statuses)).to.deep.equal(['201', '503']);
      await expectStored(settings.DATABASE_URL, callers.accepted);
      await redis.command('config', 'set', 'appendfsync', 'no');
      await until('not durable', () => ingest.degraded()['redis']);
    } finally {
      await redis.stop();
    }
  });

  it('replaces a killed master under load; with REDIS_ACKS no acknowledged event is lost', async function () {
    this.timeout(400_000);
    await using cluster = await RedisCluster.start();
    const settings = { REDIS_URL: cluster.url, DATABASE_URL: await migratedUrl(), JOB_LOCK_MS: '1000' };
    await using worker = await startWorker(settings);
    await using ingest = await startIngest({ ...settings, REDIS_ACKS: '1' });
    await using without = await startIngest(settings);
    expect(worker).to.not.equal(undefined);
    await using callers = startCallers(ingest);
    await using others = startCallers(without);
    await callers.more(201, 50);
    const { master, replica } = await cluster.ownersOf(queueKey('events', 'wait'));
    await master.kill();
    await until('the replica is promoted', async () => (await roleOf(replica)) === 'master', failoverMs);
    await others.more(201, 50, failoverMs);
    // The new master has no replica until the old one is back.
    await master.startAgain();
    await callers.more(201, 50, failoverMs);
    await Promise.all([callers.stop(), others.stop()]);

    await expectStored(settings.DATABASE_URL, callers.accepted);
    await reportFailover('killed master, REDIS_ACKS=1', settings.DATABASE_URL, callers);
    await reportFailover('killed master, REDIS_ACKS=0', settings.DATABASE_URL, others);
  });

  it('that lacks the master of the queue is asked no more often than before', async function () {
    this.timeout(60_000);
    const busPorts = [await freePort(), await freePort()] as const;
    const one = await RedisServer.start(clustered(busPorts[0]));
    const two = await RedisServer.start(clustered(busPorts[1]));
    try {
      await one.command('cluster', 'addslotsrange', '0', '8191');
      await two.command('cluster', 'addslotsrange', '8192', '16383');
      await one.command('cluster', 'meet', '127.0.0.1', String(two.port), String(busPorts[1]));
      for (const server of [one, two]) {
        await until('the cluster is up', async () =>
          String(await server.command('cluster', 'info')).includes('cluster_state:ok'),
        );
      }
      await using ingest = await startIngest({ REDIS_URL: `${one.url},${two.url}` });
      await until('ready', () => Object.keys(ingest.degraded()).length === 0 || undefined);
      const slot = Number(await one.command('cluster', 'keyslot', queueKey('events', 'wait')));
      const [owner, other] = slot <= 8_191 ? [one, two] : [two, one];
      const asked = async (): Promise<number> =>
        Number(/total_commands_processed:(\d+)/.exec(String(await other.command('info', 'stats')))?.[1]);
      await owner.kill();
      await until('unready', () => ingest.degraded()['redis']);
      const [before, begun] = [await asked(), performance.now()];
      // The test's own questions are a part of it.
      await until('a thousand commands', async () => (await asked()) >= before + 1_000);
      const seconds = (performance.now() - begun) / 1_000;
      expect(((await asked()) - before) / seconds, 'commands a second').to.be.lessThan(400);
      await owner.startAgain();
      await until('ready', () => Object.keys(ingest.degraded()).length === 0 || undefined);
    } finally {
      await one.stop();
      await two.stop();
    }
  });
});
