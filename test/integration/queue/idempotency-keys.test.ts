import { expect } from 'chai';
import * as fc from 'fast-check';
import type { AcceptedEvent } from '../../../internal/event/event.ts';
import { IdempotencyKeys, type Keyed } from '../../../internal/queue/keys/idempotency.ts';
import { OpenRuns } from '../../../internal/queue/keys/open-runs.ts';
import { anEvent } from '../../support/events.ts';
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
        const keys = new IdempotencyKeys(redis, 'events', 60_000);
        const [event, again] = [anEvent({ id: 'a' }), anEvent({ id: 'b' })];
        await keys.reserve([keyed(event)], 'all');
        await redis.flushall();
        await keys[end]([keyed(event)]);
        const found = await keys.reserve([keyed(again)], 'all');
        expect(found).to.deep.equal([{ identities: [{ id: 'a', createdAt: event.createdAt }], committed }]);
      });
    });
  }
});

describe('the key of a message that becomes several events', () => {
  const failed = (errorDescription: string, id: string) => [
    anEvent({ kind: 'ERROR', errorDescription, id: `${id}1`, createdAt: 1 }),
    anEvent({ kind: 'END', id: `${id}2`, createdAt: 1 }),
  ];
  const identities = ['a1', 'a2'].map((id) => ({ id, createdAt: 1 }));

  for (const wayIn of ['lineage', 'ping', 'job', 'close'] as const) {
    it(`of ${wayIn}: other texts replace the first until they are acknowledged, and keep all identities`, async () => {
      const server = await emptyRedis();
      await server.use(async (redis) => {
        const keys = new IdempotencyKeys(redis, 'events', 60_000);
        const group = (text: string, id: string): Keyed => ({ key: [wayIn, 'k'], events: failed(text, id) });
        await keys.reserve([group('first', 'a')], 'each');
        expect(await keys.reserve([group('second', 'b')], 'each')).to.have.nested.property(
          '[0].code',
          'request-in-progress',
        );
        await keys.release([group('first', 'a')]);
        const [again] = await keys.reserve([group('second', 'b')], 'each');
        expect(again).to.deep.equal({ identities, committed: false });
        await keys.markCommitted([group('second', 'b')]);
        const [repeat] = await keys.reserve([group('second', 'c')], 'each');
        expect(repeat).to.deep.equal({ identities, committed: true });
        expect(await keys.reserve([group('third', 'c')], 'each')).to.have.nested.property(
          '[0].code',
          'idempotency-key-reused',
        );
      });
    });
  }

  it('of a caller, or of a CloudEvent, is bound to its first body at once', async () => {
    const server = await emptyRedis();
    await server.use(async (redis) => {
      const keys = new IdempotencyKeys(redis, 'events', 60_000);
      for (const wayIn of ['caller', 'cloud-event'] as const) {
        const group = (text: string): Keyed => ({ key: [wayIn, 'k'], events: failed(text, 'a') });
        await keys.reserve([group('first')], 'all');
        await keys.release([group('first')]);
        const found = await keys.reserve([group('second')], 'all');
        expect(found).to.have.nested.property('[0].code', 'idempotency-key-reused');
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
      const keys = new IdempotencyKeys(redis, 'events', 60_000);
      const check = fc.asyncProperty(owners, async (all) => {
        await redis.flushall();
        const groups = all.map(({ organization, key }, at): Keyed => {
          return { key, events: [anEvent({ organization, id: String(at) })] };
        });
        await keys.reserve(groups, 'each');
        await keys.markCommitted(groups);
        const found = await keys.reserve(groups, 'each');
        expect(found.map((one) => ('identities' in one ? one.identities[0]?.id : one.code))).to.deep.equal(
          all.map((_, at) => String(at)),
        );
        expect(await redis.dbsize()).to.equal(all.length);
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
      const runs = new OpenRuns(redis, 'events');
      const check = fc.asyncProperty(owners, async (all) => {
        await redis.flushall();
        await Promise.all(all.map(([organization, automation], at) => runs.open(organization, automation, String(at))));
        const found = await Promise.all(all.map(([organization, automation]) => runs.find(organization, automation)));
        expect(found.map((one) => one?.run)).to.deep.equal(all.map((_, at) => String(at)));
      });
      await fc.assert(check, { numRuns: 30 });
    });
  });
});
