import { expect } from 'chai';
import { createStore } from '../../../internal/store/store.ts';
import { createLogger } from '../../../internal/kit/telemetry/logger.ts';
import { Registry } from '../../../internal/kit/telemetry/metrics.ts';
import { storeMetrics } from '../../../internal/worker/worker-metrics.ts';
import { Batcher } from '../../../internal/worker/batcher.ts';
import { IsolatingStore } from '../../../internal/worker/isolating-store.ts';
import { roomyLimits } from '../../support/batcher-limits.ts';
import { anEvent } from '../../support/events.ts';
import { figure } from '../../support/rows.ts';
import { migratedDatabase } from '../../support/store.ts';

describe('reconciliation', () => {
  it('leave out duplicates of a job delivered again, and keep those of an event accepted twice', async () => {
    await using database = await migratedDatabase();
    const store = createStore(database.db, { partitionsAhead: 1, retentionDays: 0, overdueAfterHours: 24 });
    const registry = new Registry();
    const metrics = storeMetrics(registry);
    const logger = createLogger('test', 'silent');
    const batcher = new Batcher(new IsolatingStore(store, metrics, logger), roomyLimits, metrics, logger);
    const events = ['1', '2', '3'].map((last) => anEvent({ id: `0190a0b0-0000-7000-8000-00000000000${last}` }));
    const books = async (): Promise<number[]> =>
      Promise.all(
        ['stored', 'duplicate', 'redelivered'].map((entry) => figure(registry, `runledger_events_${entry}_total`)),
      );
    await batcher.add(events);
    expect(await books()).to.deep.equal([3, 0, 0]);
    await batcher.add(events, true);
    expect(await books(), 'given back by a worker that had stored it').to.deep.equal([3, 3, 3]);
    await batcher.add(events.slice(0, 1));
    expect(await books(), 'repeated with its Idempotency-Key').to.deep.equal([3, 4, 3]);
  });
});
