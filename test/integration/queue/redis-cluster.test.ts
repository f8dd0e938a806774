import { once } from 'node:events';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Cluster } from 'ioredis';
import { infoOf } from '../../../internal/queue/clocks/ask-master.ts';
import { hashTags } from '../../../internal/queue/keys/hash-tags.ts';
import { queueKey, shardQueue } from '../../../internal/queue/keys/keys.ts';
import { connect, disconnect } from '../../../internal/queue/ioredis-quirks.ts';
import { createConsumerRedis, createProducerRedis, type RedisClient } from '../../../internal/queue/redis.ts';
import { Callers } from '../../support/callers.ts';
import { failoverMs, reportFailover, startCallers } from '../../support/failover.ts';
import { freePort } from '../../support/free-port.ts';
import { startIngest, startWorker } from '../../support/pipeline.ts';
import { plainJob, withQueue } from '../../support/queue.ts';
import { RedisCluster } from '../../support/redis-cluster.ts';
import { clustered, RedisServer } from '../../support/redis-server.ts';
import { roleOf } from '../../support/replica.ts';
import { expectStored, figure } from '../../support/rows.ts';
import { emptyDatabase } from '../../support/servers.ts';
import {
  bodyOf,
  call,
  readClock,
  drained,
  expectRepeats,
  keyedHeaders,
  keysOn,
  ownEvent,
  report,
  RollingPods,
} from '../../support/shards.ts';
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

  describe('of three masters', function () {
    this.timeout(400_000);
    let cluster: RedisCluster;
    before(async () => {
      cluster = await RedisCluster.start();
    });
    after(() => cluster[Symbol.asyncDispose]());

    /** Three shards of a queue, and the servers of each. */
    const startShards = async (queueName: string) => {
      const settings = {
        REDIS_URL: cluster.url,
        QUEUE_NAME: queueName,
        QUEUE_SHARDS: '3',
        DATABASE_URL: await migratedUrl(),
        // On a busy machine a reply of Redis takes most of a second. A shorter lock would end
        // before its renewal, and jobs would be taken again and again.
        JOB_LOCK_MS: '5000',
      };
      const keys = [0, 1, 2].map((shard) => queueKey(shardQueue(queueName, shard), 'wait'));
      const owners = await Promise.all(keys.map(async (key) => ({ key, ...(await cluster.ownersOf(key)) })));
      return { settings, owners };
    };

    it('fails what a client has not settled when it ends, so that a worker can stop', async () => {
      const client = createConsumerRedis(cluster.url) as Cluster;
      client.on('error', () => undefined);
      await Promise.all(hashTags.slice(0, 3).map((tag) => client.get(`{${tag}}`)));
      const nodes = client.nodes();
      await disconnect(client);
      // The connections of the nodes end later than the client.
      await until('all connections are closed', () => nodes.every(({ status }) => status === 'end'));
      await nextTurn();
      expect(client.status).to.equal('end');
      expect(await client.get('key').catch(String)).to.match(/Connection is closed/);
      // The same for an attempt to connect, which asks here whether the cluster works.
      const attempt = client.connect().catch(String);
      await once(client, 'connect');
      await disconnect(client);
      expect(await attempt).to.match(/Connection is closed/);
    });

    it('grows from one shard to four and shrinks again under load; workers and controller follow', async () => {
      const queueName = 'growing';
      const queues = [0, 1, 2, 3].map((shard) => shardQueue(queueName, shard));
      const owner = async (queue: string, part: string) => (await cluster.ownersOf(queueKey(queue, part))).master;
      const command = async (name: string, queue: string, part: string, ...args: string[]) =>
        (await owner(queue, part)).command(name, queueKey(queue, part), ...args);
      expect(new Set(await Promise.all(queues.map((queue) => owner(queue, 'wait')))).size).to.equal(3);
      const settings = {
        REDIS_URL: cluster.url,
        QUEUE_NAME: queueName,
        DATABASE_URL: await migratedUrl(),
        JOB_LOCK_MS: '5000',
      };
      const pods = new RollingPods();
      let ingest = await pods.start(settings);
      const callers = call(() => ingest);
      try {
        /** The pods before and after, side by side: both get repeats of requests of the other. */
        const replaceIngest = async (shards: string): Promise<void> => {
          const before = ingest;
          ingest = await pods.start({ ...settings, QUEUE_SHARDS: shards });
          await callers.more(201, 20, failoverMs);
          await expectRepeats(before, ingest);
          await expectRepeats(ingest, before);
          await pods.stop(before);
        };
        await callers.more(201, 20, failoverMs);
        await replaceIngest('4');
        const early: string[] = [];
        {
          // Few jobs fill a shard: the pod then leaves it for the next one. No worker takes them.
          await using limited = await startIngest({ ...settings, QUEUE_SHARDS: '4', BACKLOG_MAX_JOBS: '5' });
          await using filling = startCallers(limited);
          for (const queue of queues) {
            const hasJobs = async () => Number(await command('llen', queue, 'wait')) > 0;
            await until(`jobs in ${queue}`, hasJobs, failoverMs);
          }
          await filling.stop();
          early.push(...filling.accepted);
        }
        // As an earlier setting of workers and controller: they find the shards in the registry.
        await using worker = await startWorker(settings, { migrate: false });
        expect(worker).to.not.equal(undefined);
        await replaceIngest('1');
        await callers.stop();
        report('1 to 4 to 1 shards in a cluster', callers);
        await expectStored(settings.DATABASE_URL, [...early, ...callers.accepted], failoverMs);
        await drained([cluster], queueName);
      } finally {
        await callers.stop();
        await pods.stopAll();
      }
      // The controller retires a shard ten minutes after its last use, when it is empty.
      const others = queues.slice(1);
      for (const queue of others) {
        await command('set', queue, 'admitting', String(Date.now() - 11 * 60_000));
        await command('del', queue, 'shard-in-use');
      }
      const [last = ''] = others.slice(-1);
      const known = () => command('hlen', queueName, 'shards');
      const clock = () => readClock([cluster], [], queueName);
      /** A controller that cannot retire a shard in time does so at its next reading. */
      const knownBecome = (count: number) =>
        until(`${count} shards are known`, async () => (await clock()) && (await known()) === count);
      await withQueue(cluster.url, (queue) => queue.add('0 events', plainJob([]), { timestamp: 1_000 }), last);
      expect(await clock(), 'the oldest job of all shards').to.include({ oldestAt: 1_000 });
      // The last one is not empty.
      await knownBecome(2);
      await withQueue(cluster.url, (queue) => queue.drain(), last);
      await knownBecome(1);
    });

    it("spreads idempotency keys over its masters; pods with other shards find each other's", async () => {
      const pods = new RollingPods();
      const start = (shards: string) =>
        pods.start({ REDIS_URL: cluster.url, QUEUE_NAME: 'keys', QUEUE_SHARDS: shards });
      try {
        let pod = await start('1');
        for (const shards of ['3', '1']) {
          const next = await start(shards);
          await expectRepeats(pod, next);
          await expectRepeats(next, pod);
          await pods.stop(pod);
          pod = next;
        }
      } finally {
        await pods.stopAll();
      }
      for (const master of cluster.masters) {
        expect(await master.command('keys', '*}:keys:idempotency:*')).to.have.length.above(0);
      }
    });

    it('spreads the shards over its masters, and replaces a killed one; with REDIS_ACKS no 201 is lost', async () => {
      const { settings, owners } = await startShards('events');
      expect(new Set(owners.map(({ master }) => master)).size).to.equal(3);
      const early: string[] = [];
      {
        // Few jobs fill a shard: the pod then leaves it for the next one. No worker takes them yet.
        await using limited = await startIngest({ ...settings, BACKLOG_MAX_JOBS: '5' });
        await using first = startCallers(limited);
        for (const { key, master } of owners) {
          const hasJobs = async () => Number(await master.command('llen', key)) > 0;
          await until('events in each shard', hasJobs, failoverMs);
        }
        await first.stop();
        early.push(...first.accepted);
      }
      await using worker = await startWorker(settings);
      expect(worker).to.not.equal(undefined);
      await using ingest = await startIngest({ ...settings, REDIS_ACKS: '1' });
      await using without = await startIngest(settings);
      await using callers = startCallers(ingest);
      await using others = startCallers(without);
      await callers.more(201, 50, failoverMs);
      const [{ master, replica }] = owners as [(typeof owners)[0]];
      await master.kill();
      await until('the replica is promoted', async () => (await roleOf(replica)) === 'master', failoverMs);
      await others.more(201, 50, failoverMs);
      // The new master has no replica until the old one is back.
      await master.startAgain();
      await callers.more(201, 50, failoverMs);
      await Promise.all([callers.stop(), others.stop()]);

      await expectStored(settings.DATABASE_URL, [...early, ...callers.accepted], failoverMs);
      await reportFailover('killed master, REDIS_ACKS=1', settings.DATABASE_URL, callers);
      await reportFailover('killed master, REDIS_ACKS=0', settings.DATABASE_URL, others);
    });

    it('keeps the shards of the other masters, if it need not serve all slots', async () => {
      const { settings, owners } = await startShards('partial');
      await cluster.configure('cluster-require-full-coverage', 'no');
      await using ingest = await startIngest(settings);
      await using early = await startWorker(settings);
      const { registry } = ingest.telemetry;
      const admitting = (shards: number) =>
        until(
          `${shards} shards`,
          async () => (await figure(registry, 'runledger_shard_admitting')) === shards,
          failoverMs,
        );
      await admitting(3);
      await using callers = startCallers(ingest);
      const [well, lost] = owners as [(typeof owners)[0], (typeof owners)[0]];
      // Some have their first place on the lost master, some their second: the other one lives.
      const keys = await keysOn(cluster, lost.master);
      await lost.replica.kill();
      await lost.master.kill();
      const lossIsKnown = async () =>
        /cluster_slots_fail:[1-9]/.test(String(await well.master.command('cluster', 'info').catch(() => '')));
      await until('the loss is known', lossIsKnown, failoverMs);
      await admitting(2);
      const before = callers.accepted.length;
      await callers.more(201, 50, failoverMs);
      await expectStored(settings.DATABASE_URL, callers.accepted.slice(before), failoverMs);
      const keyed = keys.map((key) => ({ event: ownEvent(), key }));
      const send = () =>
        Promise.all(keyed.map(({ event, key }) => bodyOf(() => ingest.client.register(event, keyedHeaders(key)))));
      expect(await send()).to.deep.equal(await send());
      await early[Symbol.asyncDispose]();
      await using _worker = await startWorker(settings, { migrate: false });
      await lost.master.startAgain();
      await lost.replica.startAgain();
      await admitting(3);
      await callers.stop();
      await expectStored(settings.DATABASE_URL, callers.accepted, failoverMs);
      const { statuses, longestGapMs } = callers;
      const gap = (longestGapMs / 1_000).toFixed(1);
      console.log(`      a lost master: ${statuses[503] ?? 0} of ${statuses[201]} answers 503, ${gap} s without a 201`);
    });

    it('gives each command its own reply while a master is replaced', async () => {
      const names = hashTags.slice(0, 12).map((tag) => `{${tag}}`);
      const { master, replica } = await cluster.ownersOf(names[0] ?? '');
      // They know the masters, and have not yet connected to most of them.
      const clients = Array.from({ length: 4 }, () => createProducerRedis(cluster.url).on('error', () => undefined));
      await Promise.all(clients.map(connect));
      await master.kill();
      const wrong: unknown[] = [];
      const served = new Set<string>();
      const ended = new AbortController();
      const ask = async (client: RedisClient, name: string) => {
        for (let id = 0; !ended.signal.aborted; id += 1) {
          // A pipeline, whose second command has no key.
          void infoOf(client, name, 'memory').catch(() => undefined);
          const asked = `${name} ${id}`;
          const hear = (reply: unknown): unknown => (reply === asked ? served.add(name) : wrong.push([asked, reply]));
          void client.eval('return ARGV[1]', 1, name, asked).then(hear, () => undefined);
          await sleep(5);
        }
      };
      const asking = clients.flatMap((client) => names.map((name) => ask(client, name)));
      await until('the replica is promoted', async () => (await roleOf(replica)) === 'master', failoverMs);
      served.clear();
      await until('an answer for each key', () => served.size === names.length, failoverMs);
      ended.abort();
      await Promise.all(asking);
      await Promise.all(clients.map(disconnect));
      await master.startAgain();
      expect(wrong).to.deep.equal([]);
    });
  });
});
