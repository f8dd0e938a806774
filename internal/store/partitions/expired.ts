import { isDeepStrictEqual } from 'node:util';
import { sql, type Transaction } from 'kysely';
import { readClock } from '../clock.ts';
import type { Database, Tables } from '../database.ts';
import { countChanges } from './event-days.ts';
import { lockEvents, type Partition } from './partitions.ts';
import type { ArchivedRows } from './archived.ts';

/**
 * Detaches a partition from `events`, so that no reader of events sees it:
 * `events_20261121_expired_1795305600000`. The name holds the time, since late events may create
 * the partition of that day again.
 */
export async function expirePartition(trx: Transaction<Tables>, { name }: Partition): Promise<void> {
  await lockEvents(trx);
  await sql`alter table events detach partition ${sql.table(name)}`.execute(trx);
  const { now } = await readClock(trx);
  const expired = sql.table(`${name}_expired_${now}`);
  await sql`alter table ${sql.table(name)} rename to ${expired}`.execute(trx);
}

/**
 * Why a partition is no longer what the archive holds; undefined if it still is, which a lock keeps
 * so until the end of the transaction. Only writers of these old days wait.
 */
export async function changedSince(
  trx: Transaction<Tables>,
  { name }: Partition,
  { rows: archived, objects }: ArchivedRows,
): Promise<string | undefined> {
  await sql`lock table ${sql.table(name)} in share mode`.execute(trx);
  const { rows } = await sql<{ rows: number }>`select count(*)::float8 as rows from ${sql.table(name)}`.execute(trx);
  if (rows[0]?.rows !== archived) return `${name} has got further events`;
  for (const { organization, day, changes } of objects) {
    // An erasure or `seal` changes rows, and leaves their number.
    if (isDeepStrictEqual(await countChanges(trx, organization, day), changes)) continue;
    return `an erasure or \`seal\` has changed ${name}`;
  }
  return undefined;
}

/** The names of detached tables past retention, oldest first. */
export async function listExpired(db: Database): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relkind = 'r' and relname ~ '^events_[0-9_]+_expired_[0-9]+$'
      and relnamespace = (select relnamespace from pg_class where oid = 'events'::regclass)
    order by 1
  `.execute(db);
  return rows.map(({ name }) => name);
}

/** Drops such a table. Resolves with the name that it had as a partition. */
export async function dropExpired(trx: Transaction<Tables>, name: string): Promise<string> {
  await sql`drop table ${sql.table(name)}`.execute(trx);
  return name.replace(/_expired_\d+$/, '');
}
