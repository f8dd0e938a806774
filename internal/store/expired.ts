import { sql, type Transaction } from 'kysely';
import type { Database, Tables } from './database.ts';
import { lockEvents, type Partition } from './partitions.ts';

/**
 * Takes a partition out of `events`, as a table of its own, whose events nobody sees any more:
 * `events_20261121_expired_1795305600000`. The time is in the name, for late events may bring the
 * partition of a day again.
 */
export async function expirePartition(trx: Transaction<Tables>, { name }: Partition): Promise<void> {
  await lockEvents(trx);
  await sql`alter table events detach partition ${sql.table(name)}`.execute(trx);
  const expired = sql.table(`${name}_expired_${Date.now()}`);
  await sql`alter table ${sql.table(name)} rename to ${expired}`.execute(trx);
}

/** The names of the tables that were partitions and are past retention, the oldest first. */
export async function listExpired(db: Database): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relkind = 'r' and relname ~ '^events_[0-9_]+_expired_[0-9]+$'
      and relnamespace = (select relnamespace from pg_class where oid = 'events'::regclass)
    order by 1
  `.execute(db);
  return rows.map(({ name }) => name);
}

/** Drops such a table; resolves with the name it had as a partition. */
export async function dropExpired(trx: Transaction<Tables>, name: string): Promise<string> {
  await sql`drop table ${sql.table(name)}`.execute(trx);
  return name.replace(/_expired_\d+$/, '');
}
