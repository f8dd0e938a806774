import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import * as fc from 'fast-check';
import type { AcceptedEvent } from '../../../internal/event/event.ts';
import { createIdentitySource } from '../../../internal/event/identity.ts';
import type { Keyed } from '../../../internal/queue/keys/idempotency.ts';
import { PingRuns } from '../../../internal/queue/keys/ping-runs.ts';
import { anEvent, eventBody } from '../../support/events.ts';
import { claimed, keysIn, stateOf } from '../../support/keys.ts';
import { startIngest } from '../../support/pipeline.ts';
import { figure } from '../../support/rows.ts';
import { emptyRedis } from '../../support/servers.ts';
import { until } from '../../support/until.ts';

const keyed = (...events: AcceptedEvent[]): Keyed => ({ key: ['caller', 'k'], events });

describe('a reservation that a failover of Redis has lost', () => {
  for (const [end, committed] of [
    ['markCommitted', true],
    ['release', false],
  ] as const) {
    it(`is written again by ${end}, with the same identity`, async () => {
      const server = await emptyRedis();
      await server.use(async (redis) => {
        const keys = keysIn(redis);
        const [event, again] = [anEvent(), anEvent()];
        const claim = await claimed(keys, keyed(event));
        await redis.flushall();
        keys[end](claim);
        expect(await stateOf(keys, keyed(again))).to.deep.equal({ ids: [event.id], committed });
      });
    });
  }
});

describe('the key of a message that becomes several events', () => {
  const identify = createIdentitySource();
  const failed = (errorDescription: string) => [
    anEvent({ kind: 'ERROR', errorDescription, ...identify() }),
    anEvent({ kind: 'END', ...identify() }),
  ];

  for (const wayIn of ['lineage', 'ping', 'job', 'close'] as const) {
    it(`of ${wayIn}: other texts replace the first until they are acknowledged, and keep all identities`, async () => {
      const server = await emptyRedis();
      await server.use(async (redis) => {
        const keys = keysIn(redis);
        const group = (text: string): Keyed => ({ key: [wayIn, 'k'], events: failed(text) });
        const first = await claimed(keys, group('first'));
        const ids = first.events.map(({ id }) => id);
        expect(new Set(ids).size).to.equal(2);
        expect(await stateOf(keys, group('second'))).to.equal('request-in-progress');
        keys.release(first);
        const second = await claimed(keys, group('second'));
        expect(second.events.map(({ id }) => id)).to.deep.equal(ids);
        keys.markCommitted(second);
        expect(await stateOf(keys, group('second'))).to.deep.equal({ ids, committed: true });
        expect(await stateOf(keys, group('third'))).to.equal('idempotency-key-reused');
      });
    });
  }

  it('of a caller, or of a CloudEvent, is bound to its first body at once', async () => {
    const server = await emptyRedis();
    await server.use(async (redis) => {
      const keys = keysIn(redis);
      for (const wayIn of ['caller', 'cloud-event'] as const) {
        const group = (text: string): Keyed => ({ key: [wayIn, 'k'], events: failed(text) });
        keys.release(await claimed(keys, group('first')));
        expect(await stateOf(keys, group('second'))).to.equal('idempotency-key-reused');
      }
    });
  });
});

describe('the keys of a generation with several hashes', () => {
  it('are found, given up and aged as in one', async () => {
    const server = await emptyRedis();
    await server.use(async (redis) => {
      await redis.flushall();
      const keys = keysIn(redis);
      await keys.sweep();
      await redis.hset('events', 'hashes', 5);
      const attempt = () =>
        Array.from({ length: 60 }, (_, at): Keyed => ({ ...keyed(anEvent()), key: ['caller', `${at}`] }));
      const claims = await Promise.all(attempt().map((group) => claimed(keys, group)));
      expect(await redis.keys('events:1:*')).to.have.length(5);
      for (const claim of claims.slice(0, 20)) keys.markCommitted(claim);
      for (const claim of claims.slice(20, 40)) keys.release(claim);
      for (const claim of claims.slice(40)) keys.undo(claim);
      await keys.drained();
      const retry = attempt();
      const retried = await Promise.all(retry.map((group) => claimed(keys, group)));
      expect(retried.map(({ committed }) => committed)).to.deep.equal(claims.map((_, at) => at < 20));
      const first = [...claims.slice(0, 40), ...retry.slice(40)];
      expect(retried.map(({ events: [event] }) => event?.id)).to.deep.equal(
        first.map(({ events: [event] }) => event?.id),
      );
      await redis.hset('events', 'began', Date.now() - 60_000);
      const old = await claimed(keys, attempt()[0] as Keyed);
      expect([old.events[0]?.id, old.committed]).to.deep.equal([claims[0]?.events[0]?.id, true]);
      expect(await redis.hmget('events', 'hashes', 'hashesBefore')).to.deep.equal(['1', '5']);
    });
  });
});

describe('the memory of idempotency keys', () => {
  it('is less than 100 bytes a key', async () => {
    const server = await emptyRedis();
    await server.use(async (redis) => {
      await redis.flushall();
      const keys = keysIn(redis);
      const before = (await server.memory()).used;
      const count = 50_000;
      for (let key = 0; key < count; key += 1_000) {
        const groups = Array.from({ length: 1_000 }, (_, at): Keyed => {
          return { key: ['caller', `key ${key + at}`], events: [anEvent({ executionId: String(key + at) })] };
        });
        for (const claim of await Promise.all(groups.map((group) => claimed(keys, group)))) keys.markCommitted(claim);
      }
      await keys.drained();
      const bytes = ((await server.memory()).used - before) / count;
      console.log(`      ${bytes.toFixed(0)} bytes a key`);
      expect(bytes).to.be.below(100);
    });
  });
});

describe('idempotency keys, when Redis is nearly full', () => {
  it('are refused when they are new, and known ones get their first answer', async () => {
    const server = await emptyRedis();
    const full = String(1_000_000_000);
    await using ingest = await startIngest({ REDIS_URL: server.url, REDIS_MAX_MEMORY_RATIO: '0.5' });
    const register = (key?: string) =>
      ingest.client.register(body, key === undefined ? {} : { 'idempotency-key': key });
    const body = eventBody();
    try {
      const known = await register('known');
      expect(known.status).to.equal(201);
      // 47 % of Redis: more than nine tenths of the limit for all events.
      await server.command('config', 'set', 'maxmemory', String(Math.round((await server.memory()).used / 0.47)));
      await until('new keys are refused', async () => (await register(randomUUID())).status === 503);
      expect((await register('known')).body).to.equal(known.body);
      expect((await register()).status).to.equal(201);
      const { registry } = ingest.telemetry;
      expect(await figure(registry, 'runledger_rejections_total', { reason: 'idempotency-keys' })).to.be.above(0);
      await server.command('config', 'set', 'maxmemory', full);
      await until('new keys are taken', async () => (await register(randomUUID())).status === 201);
    } finally {
      await server.command('config', 'set', 'maxmemory', '0');
    }
  });
});

/** Texts of the characters that separate the parts of a name in Redis. */
const hostile = fc.string({ unit: fc.constantFrom('a', 'b', ':', '{', '}', '"', ',', '\\', '\ud800'), maxLength: 4 });

describe('the names of keys in Redis', () => {
  it('are those of one organization and one key: no other one can imitate them', async () => {
    const owner = fc.record({
      organization: hostile,
      key: fc.tuple(fc.constantFrom('caller', 'lineage', 'ping'), hostile, hostile),
    });
    const owners = fc.uniqueArray(owner, { selector: (one) => JSON.stringify(one), minLength: 20, maxLength: 50 });
    const server = await emptyRedis();
    await server.use(async (redis) => {
      const keys = keysIn(redis);
      const check = fc.asyncProperty(owners, async (all) => {
        await redis.flushall();
        const groups = all.map(({ organization, key }): Keyed => ({ key, events: [anEvent({ organization })] }));
        const claims = await Promise.all(groups.map((group) => claimed(keys, group)));
        for (const claim of claims) keys.markCommitted(claim);
        const found = await Promise.all(groups.map((group) => stateOf(keys, group)));
        const expected = groups.map(({ events }) => ({ ids: events.map(({ id }) => id), committed: true }));
        expect(found).to.deep.equal(expected);
      });
      await fc.assert(check, { numRuns: 30 });
    });
  });

  it('of open runs are those of one organization and one automation', async () => {
    const owners = fc.uniqueArray(fc.tuple(hostile, hostile), {
      selector: (one) => JSON.stringify(one),
      minLength: 20,
      maxLength: 50,
    });
    const server = await emptyRedis();
    await server.use(async (redis) => {
      const runs = new PingRuns(redis, 'events', { open: 1 });
      const check = fc.asyncProperty(owners, async (all) => {
        await redis.flushall();
        const names = all.map(([organization, automation]) => runs.nameOf(organization, automation));
        await Promise.all(names.map((name, at) => runs.open(name, String(at), '')));
        const found = await Promise.all(names.map((name) => runs.find(name)));
        expect(found.map((one) => one?.run)).to.deep.equal(all.map((_, at) => String(at)));
      });
      await fc.assert(check, { numRuns: 30 });
    });
  });
});
