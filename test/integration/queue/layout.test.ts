import { expect } from 'chai';
import { queueKey } from '../../../internal/queue/keys/keys.ts';
import { withQueue } from '../../support/queue.ts';
import { emptyRedis } from '../../support/servers.ts';

describe("BullMQ's layout of keys, which our scripts read", () => {
  it('has lists of job numbers, sorted sets, and a hash for each job', async () => {
    const redis = await emptyRedis();
    await withQueue(redis.url, async (queue) => {
      const waiting = await queue.add('2 events', { some: 'data' });
      const delayed = await queue.add('1 events', {}, { delay: 60_000 });
      const key = (part: string): string => queueKey('events', part);
      await redis.use(async (client) => {
        expect([waiting.id, delayed.id, await client.get(key('id'))]).to.deep.equal(['1', '2', '2']);
        expect(await client.exists(key('meta'))).to.equal(1);
        expect(await client.lrange(key('wait'), 0, -1)).to.deep.equal(['1']);
        expect(await client.zrange(key('delayed'), '0', '-1')).to.deep.equal(['2']);
        const { name, data, timestamp } = await client.hgetall(key('1'));
        expect({ name, data }).to.deep.equal({ name: '2 events', data: '{"some":"data"}' });
        expect(Number(timestamp)).to.equal(waiting.timestamp);
        expect(await client.type(key('active'))).to.equal('none');
        await client.lmove(key('wait'), key('active'), 'RIGHT', 'LEFT');
        await client.zadd(key('failed'), '1', '2');
      });
      const counts = await queue.getJobCounts('wait', 'active', 'delayed', 'failed');
      expect(counts).to.deep.equal({ wait: 0, active: 1, delayed: 1, failed: 1 });
    });
  });
});
