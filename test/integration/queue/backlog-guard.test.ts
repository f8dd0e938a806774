import { expect } from 'chai';
import { queueKey } from '../../../internal/queue/keys/keys.ts';
import { eventBody } from '../../support/events.ts';
import { freePort } from '../../support/free-port.ts';
import { startIngest, startWorker } from '../../support/pipeline.ts';
import { clustered, durable, RedisServer } from '../../support/redis-server.ts';
import { figure } from '../../support/rows.ts';
import { emptyDatabase } from '../../support/servers.ts';
import { until } from '../../support/until.ts';

describe('admission control', function () {
  this.timeout(60_000);
  let redis: RedisServer;
  afterEach(() => redis.stop());

  it('rejects events until Redis keeps them safely where it must, and names the wrong settings', async () => {
    redis = await RedisServer.start([
      '--appendonly',
      'yes',
      '--appendfsync',
      'everysec',
      '--maxmemory-policy',
      'allkeys-lru',
    ]);
    await using ingest = await startIngest({ REDIS_URL: redis.url, REQUIRE_DURABLE_REDIS: 'true' });
    expect(ingest.degraded()['redis']).to.equal(
      'Redis may lose acknowledged events: appendfsync is everysec, must be always; maxmemory-policy is allkeys-lru, must be noeviction.',
    );
    expect(await ingest.client.register(eventBody())).to.include({ status: 503 });
    expect(await figure(ingest.telemetry.registry, 'runledger_redis_durable')).to.equal(0);
    expect(
      await figure(ingest.telemetry.registry, 'runledger_rejections_total', { reason: 'redis-not-durable' }),
    ).to.equal(1);

    await redis.command('config', 'set', 'appendfsync', 'always');
    await redis.command('config', 'set', 'maxmemory-policy', 'noeviction');
    await until('ready', () => (Object.keys(ingest.degraded()).length === 0 ? true : undefined));
    expect(await ingest.client.register(eventBody())).to.include({ status: 201 });
    expect(await figure(ingest.telemetry.registry, 'runledger_redis_durable')).to.equal(1);

    await redis.command('config', 'set', 'no-appendfsync-on-rewrite', 'yes');
    const sentence = 'Redis may lose acknowledged events: no-appendfsync-on-rewrite is yes, must be no.';
    await until('unready', () => (ingest.degraded()['redis'] === sentence ? true : undefined));
    await redis.command('config', 'set', 'no-appendfsync-on-rewrite', 'no');
    await until('ready', () => (Object.keys(ingest.degraded()).length === 0 ? true : undefined));

    await redis.command('config', 'set', 'appendonly', 'no');
    await until('unready', () => ingest.degraded()['redis']);
    expect(ingest.degraded()['redis']).to.contain('appendonly is no, must be yes');
  });

  it('admits events, with a loud warning, where Redis is allowed to lose them', async () => {
    redis = await RedisServer.start(['--appendonly', 'no']);
    await using ingest = await startIngest({ REDIS_URL: redis.url });
    expect(ingest.degraded()).to.deep.equal({});
    expect(await ingest.client.register(eventBody())).to.include({ status: 201 });
    expect(await figure(ingest.telemetry.registry, 'runledger_redis_durable')).to.equal(0);
  });

  it('accepts a Redis password of any characters in a separate setting', async () => {
    const password = 'p@ss/w#rd?%41';
    redis = await RedisServer.start([...durable, '--requirepass', password]);
    await using ingest = await startIngest({ REDIS_URL: redis.url, REDIS_PASSWORD: password });
    expect(ingest.degraded()).to.deep.equal({});
    await using refused = await startIngest({ REDIS_URL: redis.url, REDIS_PASSWORD: 'another' });
    expect(refused.degraded()['redis']).to.match(/^Redis does not answer: WRONGPASS /);
  });

  it('rejects events while Redis lacks the database in its address: 0 may be of another installation', async () => {
    redis = await RedisServer.start([...durable, '--databases', '2']);
    await using ingest = await startIngest({ REDIS_URL: `${redis.url}/2` });
    const refused = 'Redis does not answer: ERR DB index is out of range';
    await until('unready', () => (ingest.degraded()['redis'] === refused ? true : undefined));
    expect(await ingest.client.register(eventBody())).to.include({ status: 503 });
    expect(await redis.command('dbsize')).to.equal(0);
    await using second = await startIngest({ REDIS_URL: `${redis.url}/1` });
    expect(await second.client.register(eventBody())).to.include({ status: 201 });
    expect(await redis.command('dbsize')).to.equal(0);
  });

  it('notices, for workers too, that the settings of a running Redis were corrected', async () => {
    redis = await RedisServer.start(['--appendonly', 'yes', '--appendfsync', 'no', '--maxmemory-policy', 'noeviction']);
    await using worker = await startWorker({ REDIS_URL: redis.url, DATABASE_URL: await emptyDatabase() });
    const gauge = worker.telemetry.registry.getSingleMetric('runledger_worker_redis_durable');
    // Absent until a worker has looked, which is not 0.
    const durableAs = (value: number) => async () => (await gauge?.get())?.values[0]?.value === value || undefined;
    await until('not durable', durableAs(0));
    await redis.command('config', 'set', 'appendfsync', 'always');
    await until('durable', durableAs(1));
  });

  it('rejects events while Redis has only one database and the address names another', async () => {
    redis = await RedisServer.start(clustered(await freePort()));
    await using ingest = await startIngest({ REDIS_URL: `${redis.url}/1` });
    const refused = 'Redis does not answer: ERR SELECT is not allowed in cluster mode';
    await until('unready', () => (ingest.degraded()['redis'] === refused ? true : undefined));
  });

  it('shows operators that a commit is in progress', async () => {
    redis = await RedisServer.start();
    await using ingest = await startIngest({ REDIS_URL: redis.url });
    expect(await ingest.client.register(eventBody())).to.include({ status: 201 });
    // Not by a scrape, which asks Redis as well, and it is about to be frozen.
    const gauge = ingest.telemetry.registry.getSingleMetric('runledger_commits_in_flight');
    const inFlight = async (): Promise<number | undefined> => (await gauge?.get())?.values[0]?.value;
    expect(await inFlight()).to.equal(0);
    /** False if it was over first: a commit gives up after 1.5 s. */
    const seesCommit = async (): Promise<boolean> => {
      redis.signal('SIGSTOP');
      let [seen, answered] = [false, false];
      const answer = ingest.client.register(eventBody()).finally(() => (answered = true));
      await until('a commit or an answer', async () => {
        seen = (await inFlight()) === 1;
        return seen || answered;
      });
      redis.signal('SIGCONT');
      await answer;
      return seen;
    };
    await until('a commit under way', seesCommit);
    await until('none under way', async () => ((await inFlight()) === 0 ? true : undefined));
  });

  it('rejects events when too many wait for a commit', async () => {
    redis = await RedisServer.start();
    await using ingest = await startIngest({ REDIS_URL: redis.url, BUFFER_EVENTS: '1' });
    expect(await ingest.client.register(eventBody())).to.include({ status: 201 });
    redis.signal('SIGSTOP');
    const answers = await Promise.all(Array.from({ length: 8 }, () => ingest.client.register(eventBody())));
    redis.signal('SIGCONT');
    const full = answers.filter(({ body }) => body.includes('Too many events are waiting to be queued.'));
    expect(full.length).to.be.at.least(1);
    for (const { status, headers } of full) expect([status, headers['retry-after']]).to.deep.equal([503, '1']);
    const { registry } = ingest.telemetry;
    expect(await figure(registry, 'runledger_rejections_total', { reason: 'buffer-full' })).to.equal(full.length);
  });

  it('rejects events when a managed Redis hides settings that must be right', async () => {
    redis = await RedisServer.start([...durable, '--rename-command', 'CONFIG', '']);
    await using ingest = await startIngest({ REDIS_URL: redis.url, REQUIRE_DURABLE_REDIS: 'true' });
    expect(ingest.degraded()['redis']).to.contain('appendonly is unreadable, must be yes');
  });

  it('rejects events while Redis is nearly full and workers continue, and admits them once there is room', async () => {
    redis = await RedisServer.start([...durable, '--maxmemory', '32mb']);
    const settings = { REDIS_URL: redis.url, DATABASE_URL: await emptyDatabase() };
    await using ingest = await startIngest(settings);
    expect(await ingest.client.register(eventBody())).to.include({ status: 201 });
    await redis.command('setrange', 'ballast', String(26 * 1024 * 1024), 'x');
    await until('the rejection', () => ingest.degraded()['redis']);
    expect(ingest.degraded()).to.deep.equal({ redis: 'Redis is nearly full.' });
    expect(await ingest.client.register(eventBody())).to.include({ status: 503 });
    expect(await figure(ingest.telemetry.registry, 'runledger_redis_memory_ratio')).to.be.within(0.75, 1);

    await using worker = await startWorker(settings);
    const stored = () => figure(worker.telemetry.registry, 'runledger_events_stored_total');
    await until('the worker drains', async () => ((await stored()) === 1 ? true : undefined));
    await redis.command('del', 'ballast');
    await until('ready', () => (Object.keys(ingest.degraded()).length === 0 ? true : undefined));
    expect(await ingest.client.register(eventBody())).to.include({ status: 201 });
  });

  it('rejects events while the backlog is too long, until it is drained', async () => {
    redis = await RedisServer.start();
    const settings = { REDIS_URL: redis.url, DATABASE_URL: await emptyDatabase() };
    await using ingest = await startIngest({ ...settings, BACKLOG_MAX_JOBS: '3' });
    const rejected = async () => ((await ingest.client.register(eventBody())).status === 503 ? true : undefined);
    await until('a 503', rejected);
    expect(ingest.degraded()).to.deep.equal({ redis: 'The backlog is too long.' });
    await using worker = await startWorker(settings);
    await until('ready', () => (Object.keys(ingest.degraded()).length === 0 ? true : undefined));
    expect(await ingest.client.register(eventBody())).to.include({ status: 201 });
    const { telemetry } = worker;
    const accepted = await figure(ingest.telemetry.registry, 'runledger_events_accepted_total');
    const stored = () => figure(telemetry.registry, 'runledger_events_stored_total');
    await until('all stored', async () => ((await stored()) === accepted ? true : undefined));
  });

  it('keeps workers from hammering a Redis that refuses their commands', async () => {
    redis = await RedisServer.start([...durable, '--maxmemory', '16mb']);
    const settings = { REDIS_URL: redis.url, DATABASE_URL: await emptyDatabase() };
    await using ingest = await startIngest(settings);
    expect(await ingest.client.register(eventBody())).to.include({ status: 201 });
    await redis.command('setrange', 'ballast', String(15 * 1024 * 1024), 'x');
    await redis.command('config', 'set', 'maxmemory', '8mb');
    await using worker = await startWorker(settings);
    const refused = async () =>
      Number(/errorstat_OOM:count=(\d+)/.exec(String(await redis.command('info', 'errorstats')))?.[1] ?? 0);
    await until('a refused command', async () => ((await refused()) > 0 ? true : undefined));
    const before = await refused();
    const begun = performance.now();
    // More than one round of its commands: those of a round are refused together.
    await until('more refused commands', async () => ((await refused()) >= before + 8 ? true : undefined));
    const seconds = (performance.now() - begun) / 1_000;
    expect(((await refused()) - before) / seconds, 'refused commands a second').to.be.lessThan(10);

    await redis.command('config', 'set', 'maxmemory', '64mb');
    const stored = () => figure(worker.telemetry.registry, 'runledger_events_stored_total');
    await until('the worker resumes', async () => ((await stored()) === 1 ? true : undefined));
  });
});

describe('a Redis Cluster that lacks the master of the queue', () => {
  it('is asked no more often than before', async function () {
    this.timeout(200_000);
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
      await until('a thousand commands', async () => (await asked()) >= before + 1_000, 120_000);
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
