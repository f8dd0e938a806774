import { expect } from 'chai';
import type { EventKind } from '../../../internal/event/schema.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { anEvent } from '../../support/events.ts';
import { query } from '../../support/postgres-server.ts';
import { migratedDatabase } from '../../support/store.ts';
import { until } from '../../support/until.ts';

const [executions, batch] = [300, 20];
const kinds: EventKind[] = ['START', ...Array.from({ length: 18 }, () => 'EVENT' as const), 'END'];

/** Postgres calls these updates HOT: they change no index. */
describe('updates of executions', () => {
  it('are in place except for the END, with 300 executions of 20 events under way', async () => {
    await using database = await migratedDatabase();
    // Neighbours in the table report at different times, as live automations do.
    const runs = Array.from({ length: executions }, (_, index) => `run ${(index * 53) % executions}`);
    for (const kind of kinds) {
      for (let first = 0; first < executions; first += batch) {
        const ids = runs.slice(first, first + batch);
        await recordEvents(
          database.db,
          ids.map((executionId) => anEvent({ kind, executionId })),
        );
      }
    }
    const updates = executions * (kinds.length - 1);
    const inPlace = await until('Postgres has counted the updates', async () => {
      const [row] = await query(
        database.url,
        `select n_tup_upd::integer as updates, n_tup_hot_upd::integer as in_place
         from pg_stat_user_tables where relname = 'executions'`,
      );
      return row?.['updates'] === updates ? Number(row['in_place']) : undefined;
    });
    expect(inPlace / updates).to.be.above(0.9);
  }).timeout(60_000);
});
