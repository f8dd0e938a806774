import { expect } from 'chai';
import * as fc from 'fast-check';
import type { AcceptedEvent } from '../../../internal/event/event.ts';
import type { Anomaly } from '../../../internal/event/outcome/stored-batch.ts';
import { executionsOf } from '../../support/outcome-oracle.ts';
import { countRunning } from '../../../internal/store/count-running.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { anEvent, someEvent } from '../../support/events.ts';
import { deleteExecutions, eachDatabase, storedExecutions } from '../../support/store.ts';

const none = { start_missing: 0, start_repeated: 0, start_late: 0, event_after_end: 0 };

describe('the anomalies that are counted', () => {
  const database = eachDatabase();

  /** Stores statements one after another; resolves with the anomalies of all. */
  const stored = async (...statements: AcceptedEvent[][]): Promise<Record<Anomaly, number>> => {
    const sums = { ...none };
    for (const statement of statements) {
      const { anomalies } = await recordEvents(database.db, statement);
      for (const [anomaly, count] of Object.entries(anomalies)) sums[anomaly as Anomaly] += count;
    }
    return sums;
  };
  const at = (second: number, kind: AcceptedEvent['kind'], executionId = 'run 1'): AcceptedEvent =>
    anEvent({ kind, executionId, createdAt: Date.parse('2026-11-21T12:00:00Z') + second * 1_000 });

  it('do not accuse a caller whose events two workers store in another order', async () => {
    const [start, event, error, end] = [at(0, 'START'), at(1, 'EVENT'), at(2, 'ERROR'), at(3, 'END')];
    expect(await stored([event], [start], [end], [error])).to.deep.equal(none);
    const [execution] = await storedExecutions(database.db);
    expect(execution).to.include({ startMissing: false, startLate: false, eventAfterEnd: false });
  });

  it('report each break of the order once, a missing START with the first END', async () => {
    const steps: [AcceptedEvent[], Partial<typeof none>][] = [
      [[at(0, 'START'), at(1, 'END')], {}],
      // The START may be stored by another worker yet.
      [[at(0, 'EVENT', 'run 2'), at(1, 'ERROR', 'run 2')], {}],
      [[at(2, 'END', 'run 2')], { start_missing: 1 }],
      [[at(3, 'END', 'run 2'), at(3, 'EVENT', 'run 2')], { event_after_end: 1 }],
      [[at(0, 'EVENT', 'run 3'), at(1, 'END', 'run 3')], { start_missing: 1 }],
      [[at(0, 'EVENT', 'run 4')], {}],
      [[at(1, 'START', 'run 4')], { start_late: 1 }],
      [[at(2, 'START', 'run 4')], { start_repeated: 1 }],
      [[at(2, 'EVENT')], { event_after_end: 1 }],
    ];
    for (const [events, anomalies] of steps) {
      expect(await stored(events)).to.deep.equal({ ...none, ...anomalies });
      expect(await stored(events), 'a duplicate breaks nothing').to.deep.equal(none);
    }
  });

  it('stand beside counts of running executions, and of those that began before a time', async () => {
    const ended = [at(0, 'START', 'run 3'), at(1, 'END', 'run 3'), at(0, 'START', 'run 4'), at(1, 'ERROR', 'run 4')];
    await stored([at(0, 'START', 'run 1'), at(10, 'START', 'run 2'), ...ended]);
    const five = Date.parse('2026-11-21T12:00:05Z');
    expect(await countRunning(database.db, five)).to.deep.equal({ running: 2, overdue: 1 });
  });

  it('report each execution that ends without a START exactly once, and no other that has not begun late', async () => {
    const { db } = database;
    const events = fc.uniqueArray(someEvent, { minLength: 1, maxLength: 30, selector: ({ id }) => id });
    const property = fc.asyncProperty(events, fc.integer({ min: 1, max: 5 }), async (given, size) => {
      await deleteExecutions(db);
      await db.deleteFrom('events').execute();
      const startsFirst = given.toSorted((a, b) => Number(b.kind === 'START') - Number(a.kind === 'START'));
      const statements = Array.from({ length: Math.ceil(given.length / size) }, (_, index) =>
        startsFirst.slice(index * size, (index + 1) * size),
      );
      const endedUnbegun = [...executionsOf(given).values()].filter((run) => run.startMissing && run.endedAt !== null);
      expect((await stored(...statements, startsFirst)).start_missing).to.equal(endedUnbegun.length);
    });
    await fc.assert(property, { numRuns: 60 });
  });
});
