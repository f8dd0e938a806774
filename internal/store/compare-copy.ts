import { sql } from 'kysely';
import type { Database } from './database.ts';

/** Names and types of the columns of a table; null without the table. */
export async function columnsOf(db: Database, table: string): Promise<string | null> {
  const { rows } = await sql<{ columns: string | null }>`
    select string_agg(format('%I %s', attname, format_type(atttypid, atttypmod)), ', ' order by attname) as columns
    from pg_attribute where attrelid = to_regclass(${table}) and attnum > 0 and not attisdropped
  `.execute(db);
  return rows[0]?.columns ?? null;
}

/**
 * Compares both tables in one snapshot: the trigger writes the copy in the transaction of the
 * writer, so they are equal in each.
 */
export async function requireEqual(db: Database): Promise<void> {
  const figures = sql`count(*)::text || ' executions with '
    || coalesce(sum(start_count + event_count + warning_count + error_count + end_count), 0) || ' events, '
    || coalesce(sum(error_count), 0) || ' errors'`;
  const { rows } = await sql<{ original: string; copy: string }>`
    select (select ${figures} from executions) as original, (select ${figures} from executions_partitioned) as copy
  `.execute(db);
  if (rows[0] === undefined || rows[0].original !== rows[0].copy) {
    throw new Error(`executions has ${rows[0]?.original}, and its copy ${rows[0]?.copy}; nothing is replaced`);
  }
}
