import { Migrator } from 'kysely/migration';
import { migrateToLatest } from '../../internal/store/migrate.ts';
import * as initial from '../../internal/store/migrations/0001-initial.ts';
import { query } from './postgres-server.ts';
import { openDatabase } from './store.ts';

/**
 * Brings an empty database to the schema of today, but for the partitions of `executions`: as one
 * that had executions before there were any.
 */
export async function migrateUnpartitioned(url: string): Promise<void> {
  await using db = openDatabase(url, 60_000);
  const provider = { getMigrations: () => Promise.resolve({ '0001-initial': initial }) };
  const { error } = await new Migrator({ db, provider }).migrateToLatest();
  if (error !== undefined) throw error;
  await query(
    url,
    `insert into executions (organization, automation_id, execution_id, first_event_at, last_event_at,
       start_count, event_count, warning_count, error_count, end_count)
     values ('', gen_random_uuid(), '', now(), now(), 0, 0, 0, 0, 1)`,
  );
  await migrateToLatest(db, { partitioning: { mostBytes: 0 } });
  await query(url, 'truncate executions');
}
