import { expect } from 'chai';
import * as fc from 'fast-check';
import type { AcceptedEvent } from '../../../internal/event/event.ts';
import { executionSteps } from '../../../internal/controller/notify/execution-steps.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { anEvent, someEvent } from '../../support/events.ts';
import { query } from '../../support/postgres-server.ts';
import { migratedDatabase, type TestDatabase } from '../../support/store.ts';

const organization = 'acme';
const begin = new Date('2026-11-20T11:00:00Z');

/** The steps in words, as an owner would count them: the first accepted of each kind. */
function oracle(events: readonly AcceptedEvent[]): string[] {
  const order = (a: AcceptedEvent, b: AcceptedEvent) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1);
  const accepted = events.filter((event) => event.organization === organization).toSorted(order);
  const told = new Set<string>();
  return accepted.flatMap(({ automationId, executionId, kind, createdAt }) => {
    const run = `${automationId.toLowerCase()} ${executionId}`;
    const tell = (state: string): string[] => {
      if (told.has(`${run} ${kind}`)) return [];
      told.add(`${run} ${kind}`);
      return [`${run} ${state}`];
    };
    if (kind === 'START') return tell('started');
    if (kind === 'ERROR') return tell('failed');
    if (kind !== 'END') return [];
    const hasFailed = accepted.some(
      (other) =>
        other.kind === 'ERROR' &&
        `${other.automationId.toLowerCase()} ${other.executionId}` === run &&
        other.createdAt <= createdAt,
    );
    const step = tell('succeeded');
    return hasFailed ? [] : step;
  });
}

/** Reads the steps of consecutive windows, as ticks do. */
async function told({ db }: TestDatabase, ends: readonly number[], most: number): Promise<string[]> {
  const all: string[] = [];
  let from = begin;
  for (const end of ends.toSorted((a, b) => a - b)) {
    const to = new Date(Math.max(end, from.getTime()));
    const { steps, until } = await db
      .transaction()
      .execute((trx) => executionSteps(trx, organization, { from, to, most }));
    all.push(...steps.map(({ automationId, executionId, state }) => `${automationId} ${executionId} ${state}`));
    from = until;
  }
  return all;
}

describe('the steps of executions', () => {
  it('are reported once each, in order of acceptance, whenever the events happened and however ticks divide them', async function () {
    this.timeout(120_000);
    await using database = await migratedDatabase();
    const last = begin.getTime() + 40 * 3_600_000;
    const cuts = fc.array(fc.oneof(fc.integer({ min: 0, max: 10 }), fc.integer({ min: 0, max: 37 * 3_600_000 })));
    const events = fc.array(someEvent, { minLength: 1, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(events, cuts, fc.integer({ min: 1, max: 50 }), fc.boolean(), async (some, ms, most, atOnce) => {
        await query(database.url, 'truncate events, executions, running_executions');
        for (const batch of atOnce ? [some] : some.map((event) => [event])) await recordEvents(database.db, batch);
        // The last ticks read what the limit left.
        const ends = [...ms.map((after) => begin.getTime() + 3_600_000 + after), ...some.map(() => last)];
        expect(await told(database, ends, most)).to.deep.equal(oracle(some));
      }),
      { numRuns: 80 },
    );
  });

  it('have the time at which a run happened, long before it was accepted', async () => {
    await using database = await migratedDatabase();
    const occurredAt = begin.getTime() - 86_400_000;
    const kinds = ['START', 'ERROR', 'END'] as const;
    await recordEvents(
      database.db,
      kinds.map((kind, index) =>
        anEvent({ kind, createdAt: begin.getTime() + 10 + index, occurredAt: occurredAt + index }),
      ),
    );
    const window = { from: begin, to: new Date(begin.getTime() + 60_000), most: 100 };
    const { steps } = await database.db.transaction().execute((trx) => executionSteps(trx, organization, window));
    expect(steps.map(({ state, occurredAt: at }) => [state, at.getTime()])).to.deep.equal([
      ['started', occurredAt],
      ['failed', occurredAt + 1],
    ]);
  });
});
