import { advisoryLocks } from '../advisory-locks.ts';
import type { Database } from '../database.ts';
import { sql } from '../sql.ts';
import { withTurn } from '../with-turn.ts';
import { listPartitions, type DayRange } from './partitions.ts';

/** The comment on a table whose indexes are packed. */
const packed = 'its indexes are packed';

/**
 * Builds the indexes of each of these days anew, once, while others read and write: keys in no
 * order leave a third of each page empty. It waits for transactions under way. Resolves with the
 * names of the tables; none if another process builds indexes.
 */
export async function packDays(db: Database, range: DayRange, signal?: AbortSignal): Promise<string[]> {
  const done: string[] = [];
  await withTurn(db, advisoryLocks.indexBuild, async () => {
    for (let table = await findLoose(db, range); table !== undefined; table = await findLoose(db, range)) {
      signal?.throwIfAborted();
      await dropBroken(db, table);
      await fillPages(db, table);
      await sql`reindex table concurrently ${sql.table(table)}`.execute(db);
      await sql`comment on table ${sql.table(table)} is ${sql.lit(packed)}`.execute(db);
      done.push(table);
    }
  });
  return done;
}

async function findLoose(db: Database, range: DayRange): Promise<string | undefined> {
  const within = (await listPartitions(db)).filter(({ from, to }) => from >= range.from && to <= range.to);
  const { rows } = await sql<{ name: string }>`
    select name from unnest(${within.map(({ name }) => name)}::text[]) as name
    where obj_description(to_regclass(name), 'pg_class') is distinct from ${packed}
    limit 1
  `.execute(db);
  return rows[0]?.name;
}

/** Lets the pages of the indexes be full, since few events come late. */
async function fillPages(db: Database, table: string): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_index join pg_class on oid = indexrelid where indrelid = to_regclass(${table})
  `.execute(db);
  for (const { name } of rows) await sql`alter index ${sql.table(name)} set (fillfactor = 100)`.execute(db);
}

/**
 * Removes what an interrupted run left.
 * https://www.postgresql.org/docs/current/sql-reindex.html#SQL-REINDEX-CONCURRENTLY
 */
async function dropBroken(db: Database, table: string): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_index join pg_class on oid = indexrelid
    where indrelid = to_regclass(${table}) and not indisvalid and relname ~ '_cc(new|old)[0-9]*$'
  `.execute(db);
  for (const { name } of rows) await sql`drop index concurrently ${sql.table(name)}`.execute(db);
}
