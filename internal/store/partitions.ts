import { sql, type RawBuilder, type Transaction } from 'kysely';
import type { Database, Tables } from './database.ts';
import { dayAfter, isoDay } from './days.ts';

/** Days `from` until before `to`, as the ms since the Unix epoch of their midnights in UTC. */
export interface DayRange {
  from: number;
  to: number;
}

/** A table that holds the events of some days: of one, as a rule. */
export interface Partition extends DayRange {
  name: string;
}

/** The range that is one day. */
export function only(day: number): DayRange {
  return { from: day, to: dayAfter(day) };
}

/**
 * The table that holds the events of a range: `events_20261121`; `events_20261121_20261123` when it
 * is more than a day.
 */
export function partitionName({ from, to }: DayRange): string {
  const [first, last] = [from, to - 1].map((time) => isoDay(time).replaceAll('-', ''));
  return first === last ? `events_${first}` : `events_${first}_${last}`;
}

/** The partition that holds a day's events; undefined when they go to the DEFAULT partition. */
export function partitionOf(day: number, present: readonly Partition[]): Partition | undefined {
  return present.find(({ from, to }) => from <= day && day < to);
}

/** All partitions but the DEFAULT one, in the order of their days. */
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

/** How many events of which days stand in the DEFAULT partition, by day. */
export async function countDefaultRows(db: Database): Promise<Map<number, number>> {
  const { rows } = await sql<{ day: number; events: number }>`
    select extract(epoch from date_trunc('day', created_at, 'UTC'))::float8 * 1000 as day, count(*)::integer as events
    from events_default group by 1 order by 1
  `.execute(db);
  return new Map(rows.map(({ day, events }) => [day, events]));
}

/**
 * Lets nobody begin to read or write events until the end of the transaction. A statement that
 * waits for the DEFAULT partition alone has chosen its tables already, and would not see what is
 * moved to another meanwhile. Rejects when a long reader holds them: all writers wait behind this,
 * in turn for each worker that tries.
 */
export async function lockEvents(trx: Transaction<Tables>): Promise<void> {
  await sql`set local lock_timeout = '200ms'`.execute(trx);
  await sql`lock table only events in access exclusive mode`.execute(trx);
}

/**
 * Makes the partition of a day and moves into it what the DEFAULT partition held of that day;
 * resolves with the number of events moved. Built apart and then attached: unless events are
 * locked, that blocks readers and writers of DEFAULT only.
 */
export async function createPartition(trx: Transaction<Tables>, day: number): Promise<number> {
  const range = only(day);
  const name = sql.table(partitionName(range));
  await sql`create table ${name} (like events including defaults including constraints)`.execute(trx);
  // Writers must not add events of this day to DEFAULT between the move and the attachment.
  await sql`lock table events_default in access exclusive mode`.execute(trx);
  const moved = await sql`
    with moved as (
      delete from events_default
      where created_at >= ${midnight(range.from)} and created_at < ${midnight(range.to)}
      returning *
    )
    insert into ${name} select * from moved
  `.execute(trx);
  await attach(trx, range);
  return Number(moved.numAffectedRows ?? 0);
}

/**
 * Makes the DEFAULT partition, as it is, the partition of a range, and an empty one the DEFAULT. No
 * event is moved, so that it takes no longer than reading the table once (a second for eight
 * million), and what is stored twice is found as ever. Postgres refuses it when the table holds an
 * event of another day.
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

/** As a literal: bounds of partitions cannot be parameters. */
function midnight(day: number): RawBuilder<string> {
  return sql.lit(`${isoDay(day)}T00:00:00Z`);
}
