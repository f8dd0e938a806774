import { expect } from 'chai';
import { Callers } from '../../support/callers.ts';
import { startIngest, startWorker } from '../../support/pipeline.ts';
import { durable, RedisServer } from '../../support/redis-server.ts';
import { expectStored } from '../../support/rows.ts';
import { emptyDatabase } from '../../support/servers.ts';
import { until } from '../../support/until.ts';

describe('a Redis Cluster', () => {
  it('serves as the queue, durability and memory being those of its masters', async function () {
    this.timeout(30_000);
    const redis = await RedisServer.start([
      ...durable,
      '--cluster-enabled',
      'yes',
      '--cluster-announce-ip',
      '127.0.0.1',
      '--maxmemory',
      '64mb',
    ]);
    try {
      await redis.command('cluster', 'addslotsrange', '0', '16383');
      await until('the cluster is up', async () =>
        String(await redis.command('cluster', 'info')).includes('cluster_state:ok') ? true : undefined,
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
      expect(ingest.unready()).to.deep.equal({});
      const callers = new Callers(ingest.client, 4);
      await until('events', () => (callers.accepted.length > 50 ? true : undefined));
      await redis.kill();
      await until('503', () => ((callers.statuses[503] ?? 0) > 10 ? true : undefined));
      await redis.startAgain();
      const before = callers.accepted.length;
      await until('201 again', () => (callers.accepted.length > before + 20 ? true : undefined), 10_000);
      await callers.stop();
      expect(Object.keys(callers.statuses)).to.deep.equal(['201', '503']);
      await expectStored(settings.DATABASE_URL, callers.accepted, 15_000);
      await redis.command('config', 'set', 'appendfsync', 'no');
      await until('not durable', () => ingest.unready()['redis']);
    } finally {
      await redis.stop();
    }
  });
});
