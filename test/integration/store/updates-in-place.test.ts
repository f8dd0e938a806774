import { expect } from 'chai';
import type { EventKind } from '../../../internal/event/schema.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { anEvent } from '../../support/events.ts';
import { query } from '../../support/postgres-server.ts';
import { migratedDatabase, type TestDatabase } from '../../support/store.ts';
import { until } from '../../support/until.ts';

/** Sends the kinds of each execution in batches of their own, neighbours at different times. */
async function store(database: TestDatabase, kindsOf: (execution: number) => EventKind[]): Promise<number> {
  const [executions, batch] = [300, 20];
  const runs = Array.from({ length: executions }, (_, index) => (index * 53) % executions);
  const steps = kindsOf(0).length;
  for (let step = 0; step < steps; step += 1) {
    for (let first = 0; first < executions; first += batch) {
      const events = runs.slice(first, first + batch).map((run) => {
        const kind = kindsOf(run)[step] ?? 'EVENT';
        return anEvent({ kind, executionId: `run ${run}`, createdAt: begin + step });
      });
      await recordEvents(database.db, events);
    }
  }
  return executions * (steps - 1);
}

const begin = Date.now();

/** Postgres calls these updates HOT: they change no index. */
async function shareInPlace({ db, url }: TestDatabase, updates: number): Promise<number> {
  // Postgres counts the updates of a session at its end, or ten seconds later.
  await db.destroy();
  const inPlace = await until('Postgres has counted the updates', async () => {
    const [row] = await query(
      url,
      `select sum(n_tup_upd)::integer as updates, sum(n_tup_hot_upd)::integer as in_place
       from pg_stat_user_tables where relname ~ '^executions_\\d+$'`,
    );
    return row?.['updates'] === updates ? Number(row['in_place']) : undefined;
  });
  return inPlace / updates;
}

describe('updates of executions', () => {
  it('are in place with five events, one of ten executions failed', async () => {
    await using database = await migratedDatabase();
    const kindsOf = (run: number): EventKind[] => [
      'START',
      'EVENT',
      'EVENT',
      run % 10 === 0 ? 'ERROR' : 'WARNING',
      'END',
    ];
    expect(await shareInPlace(database, await store(database, kindsOf))).to.be.above(0.9);
  }).timeout(60_000);

  it('are in place except for the first ERROR, with 20 events', async () => {
    await using database = await migratedDatabase();
    const kinds: EventKind[] = ['START', ...Array.from({ length: 18 }, () => 'ERROR' as const), 'END'];
    // One of the 19 updates of an execution.
    expect(await shareInPlace(database, await store(database, () => kinds))).to.be.above(0.9);
  }).timeout(60_000);
});
