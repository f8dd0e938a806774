import { sql, type Transaction } from 'kysely';
import type { Tables } from '../database.ts';
import { createIndex, type ReaderIndex } from './indexes.ts';

/** Locks the table, so that nobody can add a row until the end of the transaction. */
export async function isEmpty(trx: Transaction<Tables>, table: string): Promise<boolean> {
  await sql`lock table only ${sql.table(table)} in share mode`.execute(trx);
  const { rows } = await sql<{ empty: boolean }>`
    select not exists (select from ${sql.table(table)}) as empty
  `.execute(trx);
  return rows[0]?.empty === true;
}

/**
 * Creates an index on an empty table and its partitions, with the same names that a later build
 * gives.
 */
export async function createPartitionedIndex(
  trx: Transaction<Tables>,
  index: ReaderIndex,
  table: string,
): Promise<void> {
  const { rows } = await sql<{ partition: string }>`
    select relname as partition from pg_inherits join pg_class on oid = inhrelid
    where inhparent = to_regclass(${table})
  `.execute(trx);
  // Postgres takes the indexes of the partitions as parts of the one of the table.
  for (const owner of [...rows.map(({ partition }) => partition), table]) {
    await createIndex(index, { name: `${owner}${suffixOf(index)}`, table: owner, how: 'plain' }).execute(trx);
  }
}

/** The name of an index without the name of its table. */
export function suffixOf({ name, table }: ReaderIndex): string {
  return name.replace(table, '');
}
