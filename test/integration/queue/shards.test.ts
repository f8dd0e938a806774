import { expect } from 'chai';
import { placeReplyMs } from '../../../internal/queue/keys/idempotency.ts';
import { queueKey } from '../../../internal/queue/keys/keys.ts';
import { eventBody } from '../../support/events.ts';
import { startIngest, startWorker } from '../../support/pipeline.ts';
import { query } from '../../support/postgres-server.ts';
import { RedisServer } from '../../support/redis-server.ts';
import { expectStored, figure } from '../../support/rows.ts';
import { call, clockOf, drained, keyedHeaders, readClock, report } from '../../support/shards.ts';
import { migratedUrl } from '../../support/store.ts';
import { until } from '../../support/until.ts';

/** A controller with this Redis alone says that it lacks a shard. */
const lacksShards = (server: RedisServer) =>
  until('a controller lacks a shard', async () => {
    const clock = await clockOf([server]);
    return typeof clock === 'string' && /has a shard that this process does not read: 127\.0\.0\.1:\d+/.test(clock);
  });
const keysOf = (server: RedisServer) => server.command('keys', '*') as Promise<string[]>;

describe('a queue in several Redis', function () {
  this.timeout(120_000);
  let servers: RedisServer[];
  let database: string;
  const urls = (...which: number[]): string => which.map((index) => servers[index]?.url).join(' ');
  const settings = (...which: number[]) => ({ REDIS_URL: urls(...which), DATABASE_URL: database });
  before(async () => {
    servers = await Promise.all([0, 1, 2, 3].map(() => RedisServer.start()));
  });
  after(() => Promise.all(servers.map((server) => server.stop())));
  beforeEach(async () => {
    for (const server of servers) await server.command('flushall');
    database = await migratedUrl();
  });

  it('loses no event, and takes more, when one of them is killed under load', async () => {
    const [first, second] = servers as [RedisServer, RedisServer];
    await using ingest = await startIngest(settings(0, 1));
    const { registry } = ingest.telemetry;
    await until('both take events', async () => (await figure(registry, 'runledger_shard_admitting')) === 2);
    await using callers = call(() => ingest);
    await callers.more(201, 50);
    // Each of the two in turn: one of them is the one that this pod uses.
    for (const server of [first, second]) {
      await server.kill();
      await callers.more(201, 100);
      expect(await clockOf([first, second])).to.match(/^Error: Redis 127\.0\.0\.1:\d+ does not answer: /);
      await server.startAgain();
      await until('both take events', async () => (await figure(registry, 'runledger_shard_admitting')) === 2);
    }
    await callers.stop();
    report('a shard killed', callers);
    expect(await figure(registry, 'runledger_shard_moves_total')).to.be.above(0);

    expect(await readClock([first, second]), 'events are queued')
      .to.have.property('oldestAt')
      .that.is.a('number');
    await using worker = await startWorker(settings(0, 1), { migrate: false });
    await expectStored(database, callers.accepted);
    await drained([first, second]);
    const count = (name: string) => figure(worker.telemetry.registry, `runledger_events_${name}_total`);
    const repeated = await figure(registry, 'runledger_events_repeated_total');
    expect((await count('duplicate')) - (await count('redelivered'))).to.be.at.most(repeated);
  });

  it('answers when one of them is frozen, within the time of an answer', async () => {
    await using ingest = await startIngest(settings(0, 1));
    const { registry } = ingest.telemetry;
    await until('both take events', async () => (await figure(registry, 'runledger_shard_admitting')) === 2);
    await using callers = call(() => ingest);
    // Each of the two in turn: one of them is the one that this pod uses.
    for (const server of servers.slice(0, 2)) {
      await callers.more(201, 20);
      server.signal('SIGSTOP');
      try {
        await callers.more(201, 50);
      } finally {
        server.signal('SIGCONT');
      }
      await until('both take events', async () => (await figure(registry, 'runledger_shard_admitting')) === 2);
    }
    expect(await figure(registry, 'runledger_events_repeated_total')).to.be.above(0);
    await callers.stop();
    report('a shard frozen', callers);
    await using _worker = await startWorker(settings(0, 1), { migrate: false });
    await expectStored(database, callers.accepted);
  });

  it('grows from one to four and shrinks again under load, and no reader is ever wrong', async () => {
    const [first, ...others] = servers as [RedisServer, ...RedisServer[]];
    let ingest = await startIngest(settings(0));
    let worker = await startWorker(settings(0), { migrate: false });
    const replaceIngest = async (next: Record<string, string>): Promise<void> => {
      const before = ingest;
      ingest = await startIngest(next);
      await before.stop();
    };
    const replaceWorker = async (next: Record<string, string>): Promise<void> => {
      await worker[Symbol.asyncDispose]();
      worker = await startWorker(next, { migrate: false });
    };
    const callers = call(() => ingest);
    try {
      await callers.more(201, 20);
      const alone = (await keysOf(first)).filter((key) => key.includes('shard'));
      expect(alone, 'with one Redis nothing is registered').to.deep.equal([]);
      // Ingest first: workers and controller of before do not read the new shards yet.
      await replaceIngest(settings(0, 1, 2, 3));
      await callers.more(201, 20);
      await lacksShards(first);
      await replaceWorker(settings(0, 1, 2, 3));
      await callers.more(201, 20);
      await readClock(servers);

      const drain = { ...settings(0), REDIS_DRAIN_URL: urls(1, 2, 3) };
      await replaceIngest(settings(0));
      await replaceWorker(drain);
      await callers.more(201, 20);
      await callers.stop();
      report('1 to 4 to 1', callers);
      await expectStored(database, callers.accepted);
      await drained(servers);
      // Not retired yet: a pod noted something less than ten minutes ago, or registered it.
      const long = String(Date.now() - 11 * 60_000);
      const pretend = async (...command: [string, ...string[]]): Promise<void> => {
        await readClock([first], others);
        await lacksShards(first);
        for (const server of others) await server.command(...command);
      };
      await pretend('set', queueKey('events', 'admitting'), long);
      await pretend('del', queueKey('events', 'shard-in-use'));
      await until('the others are retired', async () => {
        await readClock([first], others);
        return typeof (await clockOf([first])) === 'object';
      });
    } finally {
      await callers.stop();
      await ingest.stop();
      await worker[Symbol.asyncDispose]();
    }
  });

  it('does not take events while a list of shards was never registered in all of them', async () => {
    const [first, second] = servers as [RedisServer, RedisServer];
    await first.kill();
    {
      await using early = await startIngest(settings(0, 1));
      expect(await early.client.register(eventBody())).to.include({ status: 503 });
      await first.startAgain();
      await until('it takes events', async () => (await early.client.register(eventBody())).status === 201);
    }
    await second.kill();
    // Another pod with the same list may start without the second.
    await using later = await startIngest(settings(0, 1));
    await until('it takes events', async () => (await later.client.register(eventBody())).status === 201);
    await second.startAgain();
  });

  it('knows an idempotency key while either of the first two is unavailable', async () => {
    const [first, second] = servers as [RedisServer, RedisServer];
    await using ingest = await startIngest(settings(0, 1));
    const body = eventBody();
    const send = (key: string) => ingest.client.register(body, keyedHeaders(key));
    /** The key is not busy any more, which takes the lease of a mark that was lost. */
    const repeat = (key: string) =>
      until('an answer', async () => {
        const answer = await send(key);
        return answer.status === 201 && answer.body;
      });
    /** A place counts as unavailable after 500 ms: a key of a slower answer may be in one only. */
    const repeatInBoth = (key: string) =>
      until('a quick answer', async () => {
        const began = performance.now();
        const body = await repeat(key);
        return performance.now() - began < placeReplyMs && body;
      });
    const before = await repeatInBoth('before');
    await first.kill();
    expect(await repeat('before')).to.deep.equal(before);
    const during = await repeat('during');
    await first.startAgain();
    await until('both', async () => (await figure(ingest.telemetry.registry, 'runledger_shard_admitting')) === 2);
    expect(await repeatInBoth('during'), 'the first takes over what the second decided').to.deep.equal(during);
    await second.kill();
    expect(await repeat('during')).to.deep.equal(during);
    expect(await repeat('before')).to.deep.equal(before);
    await second.startAgain();
    await using _worker = await startWorker(settings(0, 1), { migrate: false });
    await until('they are stored', async () => (await query(database, 'select id from events')).length === 2);
    await drained([first, second]);
    expect(await query(database, 'select id from events')).to.have.length(2);
  });
});
