import { expect } from 'chai';
import type { AcceptedEvent } from '../../../internal/event/event.ts';
import { anEvent } from '../../support/events.ts';
import { startProducer } from '../../support/producer.ts';
import { emptyRedis } from '../../support/servers.ts';

describe('requests that take megabytes of memory', () => {
  it('do not delay the events of another organization', async () => {
    const redis = await emptyRedis();
    const { producer, stop } = await startProducer(redis.url);
    try {
      const order: string[] = [];
      const enqueue = async (events: readonly AcceptedEvent[]): Promise<void> => {
        // A busy machine may not record so much in the time for an answer.
        await producer.enqueueAll([{ events, key: undefined }], 'all').catch(() => undefined);
        order.push(events[0]?.organization ?? '');
      };
      const large = Array.from({ length: 50 }, () =>
        anEvent({ organization: 'hostile', errorDescription: 'x'.repeat(100_000) }),
      );
      const hostile = [enqueue(large), enqueue(large), enqueue(large)];
      // All that may begin has begun.
      await new Promise((resolve) => setImmediate(resolve));
      await producer.enqueue(anEvent({ organization: 'quiet' }));
      order.push('quiet');
      await Promise.all(hostile);
      expect(order).to.deep.equal(['quiet', 'hostile', 'hostile', 'hostile']);
    } finally {
      await stop();
    }
  });
});
