import { expect } from 'chai';
import { IdempotencyKeys } from '../../../internal/queue/idempotency.ts';
import { anEvent } from '../../support/events.ts';
import { emptyRedis } from '../../support/servers.ts';

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
        await keys.reserve([{ key: 'k', event }], 'all');
        await redis.flushall();
        await keys[end]([{ key: 'k', event }]);
        const found = await keys.reserve([{ key: 'k', event: again }], 'all');
        expect(found).to.deep.equal([{ id: 'a', createdAt: event.createdAt, committed }]);
      });
    });
  }
});
