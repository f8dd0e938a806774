import { expect } from 'chai';
import * as fc from 'fast-check';
import type { Transition } from '../../../internal/event/outcome/stored-batch.ts';
import { executionsOf, keyText } from '../../support/outcome-oracle.ts';
import { acceptedBetween } from '../../../internal/record/execution.ts';
import type { Database } from '../../../internal/store/database.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { anEvent, someEvent } from '../../support/events.ts';
import { failureOf } from '../../support/failure.ts';
import {
  deleteExecutions,
  eachDatabase,
  executionOf,
  storedEvents,
  storedExecutions,
  wrongRunning,
} from '../../support/store.ts';

/** Executions by organization and state, as the transitions reported add up. */
function balance(transitions: Transition[]): Record<string, number> {
  const sums: Record<string, number> = {};
  const add = (organization: string, state: string, count: number): void => {
    const key = `${organization} ${state}`;
    sums[key] = (sums[key] ?? 0) + count;
  };
  for (const { organization, from, to, executions } of transitions) {
    if (from !== 'none') add(organization, from, -executions);
    add(organization, to, executions);
  }
  return Object.fromEntries(Object.entries(sums).filter(([, count]) => count !== 0));
}

const byText = <T>(items: T[], text: (item: T) => string): T[] =>
  [...items].sort((a, b) => (text(a) < text(b) ? -1 : 1));

/**
 * Events, and the batches in which they come: any order, each at least once, waves of concurrent
 * statements.
 */
const deliveries = fc
  .uniqueArray(someEvent, { minLength: 1, maxLength: 40, selector: ({ id }) => id })
  .chain((events) =>
    fc.record({
      events: fc.constant(events),
      waves: fc
        .tuple(
          fc.shuffledSubarray(events, { minLength: events.length }),
          fc.array(fc.constantFrom(...events), { maxLength: 30 }),
          fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 8 }),
          fc.integer({ min: 1, max: 4 }),
        )
        .map(([once, again, sizes, atOnce]) => chunks(chunks([...once, ...again], sizes), [atOnce])),
    }),
  );

function chunks<T>(items: T[], sizes: number[]): T[][] {
  const result: T[][] = [];
  for (let start = 0, turn = 0; start < items.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    result.push(items.slice(start, start + size));
    start += size;
  }
  return result;
}

/** Events that were not accepted between the times of {@link acceptedBetween}. */
async function outOfBounds(db: Database): Promise<unknown[]> {
  const executions = await db.selectFrom('executions').selectAll().execute();
  const bounds = new Map(executions.map((row) => [keyText(executionOf(row)), acceptedBetween(row)]));
  return (await storedEvents(db)).filter((event) => {
    const bound = bounds.get(keyText({ ...event, automationId: event.automationId.toLowerCase() }));
    return !bound || event.createdAt < bound.from.getTime() || event.createdAt > bound.until.getTime();
  });
}

describe('recording events', () => {
  const database = eachDatabase();

  it('gives the executions of the pure function in any order, batching and redelivery, even concurrently', async function () {
    this.timeout(60_000);
    const { db } = database;
    const property = fc.asyncProperty(deliveries, async ({ events, waves }) => {
      await deleteExecutions(db);
      await db.deleteFrom('events').execute();
      const results = [];
      for (const wave of waves) results.push(...(await Promise.all(wave.map((batch) => recordEvents(db, batch)))));

      const expected = [...executionsOf(events).values()];
      expect(byText(await storedExecutions(db), keyText)).to.deep.equal(byText(expected, keyText));
      expect(byText(await storedEvents(db), ({ id }) => id)).to.deep.equal(byText(events, ({ id }) => id));
      expect(await wrongRunning(db), 'wrong rows of running_executions').to.deep.equal([]);
      expect(await outOfBounds(db), 'events that no reader of their execution finds').to.deep.equal([]);
      expect(results.reduce((sum, { stored }) => sum + stored, 0)).to.equal(events.length);
      const states = expected.map(({ organization, state }) => ({
        organization,
        from: 'none' as const,
        to: state,
        executions: 1,
      }));
      expect(balance(results.flatMap(({ transitions }) => transitions))).to.deep.equal(balance(states));
    });
    await fc.assert(property, { numRuns: 150 });
  });

  it('lets all statements with the same events in opposite orders succeed', async () => {
    const { db } = database;
    const events = Array.from({ length: 400 }, (_, index) => anEvent({ createdAt: Date.now() - index }));
    const batches = Array.from({ length: 24 }, (_, index) => (index % 2 === 0 ? events : events.toReversed()));
    const results = await Promise.all(batches.map((batch) => recordEvents(db, batch)));
    expect(results.reduce((sum, { stored }) => sum + stored, 0)).to.equal(400);
  });

  it('lets all statements that share executions succeed', async () => {
    const { db } = database;
    const sizes = Array.from({ length: 60 }, (_, index) => 3 + ((index * 37) % 500));
    const batches = sizes.map((size, batch) =>
      Array.from({ length: size }, (_, index) => anEvent({ executionId: `run ${(index * 7 + batch * 13) % 500}` })),
    );
    const left = [...batches];
    // As many at once as the pool has connections: none waits long for one.
    const writers = Array.from({ length: 6 }, async () => {
      for (let batch = left.pop(); batch !== undefined; batch = left.pop()) await recordEvents(db, batch);
    });
    await Promise.all(writers);
    const expected = [...executionsOf(batches.flat()).values()];
    expect(byText(await storedExecutions(db), keyText)).to.deep.equal(byText(expected, keyText));
  });

  it('keeps times to the millisecond, from 1970 to 9999', async () => {
    const { db } = database;
    const last = Date.parse('9999-12-31T23:59:59.999Z');
    const times = fc.sample(fc.integer({ min: 0, max: last }), 1_000);
    const events = [0, last, ...times].map((createdAt) => anEvent({ createdAt }));
    await recordEvents(db, events);
    expect(byText(await storedEvents(db), ({ id }) => id)).to.deep.equal(byText(events, ({ id }) => id));
  });

  it('changes nothing when one event of the batch is refused', async () => {
    const { db } = database;
    const refused = await failureOf(recordEvents(db, [anEvent(), anEvent({ description: 'a\0b' })]));
    expect(refused).to.include({ code: '22021' });
    expect(await storedEvents(db)).to.deep.equal([]);
    expect(await storedExecutions(db)).to.deep.equal([]);
  });
});
