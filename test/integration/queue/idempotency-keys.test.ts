import { expect } from 'chai';
import * as fc from 'fast-check';
import type { AcceptedEvent } from '../../../internal/event/event.ts';
import { createIdentitySource } from '../../../internal/event/identity.ts';
import type { Keyed } from '../../../internal/queue/keys/idempotency.ts';
import { PingRuns } from '../../../internal/queue/keys/ping-runs.ts';
import { anEvent } from '../../support/events.ts';
import { claimed, keysIn, stateOf } from '../../support/keys.ts';
import { emptyRedis } from '../../support/servers.ts';

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
        await keys[end](claim);
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
        await keys.release(first);
        const second = await claimed(keys, group('second'));
        expect(second.events.map(({ id }) => id)).to.deep.equal(ids);
        await keys.markCommitted(second);
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
        await keys.release(await claimed(keys, group('first')));
        expect(await stateOf(keys, group('second'))).to.equal('idempotency-key-reused');
      }
    });
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
        await Promise.all(claims.map((claim) => keys.markCommitted(claim)));
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
        await Promise.all(
          all.map(([organization, automation], at) => runs.open(organization, automation, String(at), '')),
        );
        const found = await Promise.all(all.map(([organization, automation]) => runs.find(organization, automation)));
        expect(found.map((one) => one?.run)).to.deep.equal(all.map((_, at) => String(at)));
      });
      await fc.assert(check, { numRuns: 30 });
    });
  });
});
