import { sql, type RawBuilder, type Transaction } from 'kysely';
import type { Database, Tables } from '../database.ts';
import { dayAfter, isoDay } from './days.ts';
import { isOnMove } from '../organizations/here.ts';
import { forgetRewritten, noteRewritten, writtenBy } from '../erase/rewritten-events.ts';

/** Days from `from` until before `to`: UTC midnights, in ms since the Unix epoch. */
export interface DayRange {
  from: number;
  to: number;
}

/** A table with the events of a range of days, usually one day. */
export interface Partition extends DayRange {
  name: string;
}

/** The range of one day. */
export function only(day: number): DayRange {
  return { from: day, to: dayAfter(day) };
}

/**
 * The name of a range's table: `events_20261121`, or `events_20261121_20261123` for several days.
 */
export function partitionName({ from, to }: DayRange): string {
  const [first, last] = [from, to - 1].map((time) => isoDay(time).replaceAll('-', ''));
  return first === last ? `events_${first}` : `events_${first}_${last}`;
}

/** The partition of a day; undefined when its events go to the DEFAULT partition. */
export function partitionOf(day: number, present: readonly Partition[]): Partition | undefined {
  return present.find(({ from, to }) => from <= day && day < to);
}

/** All partitions except DEFAULT, in the order of their days. */
export async function listPartitions(db: Database): Promise<Partition[]> {
  const { rows } = await sql<Partition>`
    select name, extract(epoch from bounds[1]::timestamptz)::float8 * 1000 as from,
      extract(epoch from bounds[2]::timestamptz)::float8 * 1000 as to
    from (
      select c.relname as name,
        regexp_match(pg_get_expr(c.relpartbound, c.oid), $$^FOR VALUES FROM [(]'(.+)'[)] TO [(]'(.+)'[)]$$) as bounds
      from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = 'events'::regclass
    ) as partitions
    where bounds is not null
    order by 2
  `.execute(db);
  return rows;
}

/** Rows in the DEFAULT partition, by day. */
export async function countDefaultRows(db: Database): Promise<Map<number, number>> {
  const { rows } = await sql<{ day: number; events: number }>`
    select extract(epoch from date_trunc('day', created_at, 'UTC'))::float8 * 1000 as day, count(*)::integer as events
    from events_default group by 1 order by 1
  `.execute(db);
  return new Map(rows.map(({ day, events }) => [day, events]));
}

/**
 * Takes ACCESS EXCLUSIVE on `events` until the end of the transaction: a statement that waits for
 * DEFAULT alone would miss rows that move meanwhile. Rejects when a long reader holds the lock,
 * because all writers wait behind it.
 */
export async function lockEvents(trx: Transaction<Tables>): Promise<void> {
  await sql`set local lock_timeout = '200ms'`.execute(trx);
  await sql`lock table only events in access exclusive mode`.execute(trx);
}

/**
 * Creates the partition of a day and moves that day's rows of DEFAULT into it, under the lock of
 * maintenance. Resolves with the number of moved events; undefined if they stay until the end of a
 * move: replication would publish that they left DEFAULT, and not that they are in a table which is
 * not attached yet. The table is built first and then attached, which blocks only users of DEFAULT.
 * `fill` puts further rows of the day into the table before that.
 */
export async function createPartition(
  trx: Transaction<Tables>,
  day: number,
  fill?: (table: RawBuilder<unknown>) => Promise<void>,
): Promise<number | undefined> {
  const range = only(day);
  const name = sql.table(partitionName(range));
  await sql`create table ${name} (like events including defaults including constraints)`.execute(trx);
  await fill?.(name);
  // Writers must not add events of this day to DEFAULT between the move and the attachment.
  await sql`lock table events_default in access exclusive mode`.execute(trx);
  const chosen = sql`created_at >= ${midnight(range.from)} and created_at < ${midnight(range.to)}`;
  const one = await sql`select from events_default where ${chosen} limit 1`.execute(trx);
  const isEmpty = one.rows.length === 0;
  if (!isEmpty && (await isOnMove(trx))) {
    await sql`drop table ${name}`.execute(trx);
    return undefined;
  }
  const moved = isEmpty ? 0 : await moveRows(trx, name, chosen);
  await attach(trx, range);
  return moved;
}

/** Moves rows of DEFAULT into a table, and keeps for streams which transactions stored them. */
async function moveRows(
  trx: Transaction<Tables>,
  to: RawBuilder<unknown>,
  chosen: RawBuilder<unknown>,
): Promise<number> {
  await forgetRewritten.execute(trx);
  const storedBy = writtenBy('events_default');
  await noteRewritten(
    sql`select organization, created_at, id, ${storedBy} as stored_by from events_default where ${chosen}`,
  ).execute(trx);
  const moved = await sql`
    with moved as (delete from events_default where ${chosen} returning *)
    insert into ${to} select * from moved
  `.execute(trx);
  return Number(moved.numAffectedRows ?? 0);
}

/**
 * Turns the DEFAULT partition into the partition of a range, and creates an empty DEFAULT. Moves no
 * event and reads the table once (a second for eight million rows). Postgres rejects it when the
 * table holds an event of another day.
 */
export async function makeDefaultThePartitionOf(trx: Transaction<Tables>, range: DayRange): Promise<void> {
  const name = sql.table(partitionName(range));
  await sql`alter table events detach partition events_default`.execute(trx);
  await sql`alter table events_default rename to ${name}`.execute(trx);
  await attach(trx, range);
  await sql`create table events_default partition of events default`.execute(trx);
}

async function attach(trx: Transaction<Tables>, range: DayRange): Promise<void> {
  await sql`
    alter table events attach partition ${sql.table(partitionName(range))}
    for values from (${midnight(range.from)}) to (${midnight(range.to)})
  `.execute(trx);
}

/** A literal: bounds of partitions cannot be parameters. */
function midnight(day: number): RawBuilder<string> {
  return sql.lit(`${isoDay(day)}T00:00:00Z`);
}
