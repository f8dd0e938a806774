import { sql, type Transaction } from 'kysely';
import type { Database, Tables } from './database.ts';

const dayMs = 24 * 60 * 60 * 1_000;

/** Executions deleted by one statement. */
const sliceSize = 10_000;

/** The UTC day that holds a time, as the ms since the Unix epoch of its midnight. */
export function dayOf(time: number): number {
  return Math.floor(time / dayMs) * dayMs;
}

/** `count` days from `first` on. */
export function daysFrom(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => first + index * dayMs);
}

/** The day that is `count` days before `day`. */
export function daysBefore(day: number, count: number): number {
  return day - count * dayMs;
}

/** The table that holds a day's events: `events_20261121`. */
export function partitionName(day: number): string {
  return `events_${isoDay(day).replaceAll('-', '')}`;
}

/** Days that have a partition, ascending. The DEFAULT partition is none of them. */
export async function listPartitions(db: Database): Promise<number[]> {
  const { rows } = await sql<{ name: string }>`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'events'::regclass and c.relname ~ '^events_[0-9]{8}$'
    order by c.relname
  `.execute(db);
  return rows.map(({ name }) => Date.parse(name.replace(/^events_(\d{4})(\d\d)(\d\d)$/, '$1-$2-$3T00:00:00Z')));
}

/** Days of which events stand in the DEFAULT partition, ascending. */
export async function listStrayDays(db: Database): Promise<number[]> {
  const { rows } = await sql<{ day: string }>`
    select distinct to_char(created_at at time zone 'UTC', 'YYYY-MM-DD') as day from events_default order by 1
  `.execute(db);
  return rows.map(({ day }) => Date.parse(`${day}T00:00:00Z`));
}

/**
 * Makes the partition of a day and moves into it what the DEFAULT partition held of that day; resolves with the number
 * of events moved. Built apart and then attached, because attaching does not block readers and writers of other days.
 */
export async function createPartition(trx: Transaction<Tables>, day: number): Promise<number> {
  const name = sql.table(partitionName(day));
  const from = sql.lit(`${isoDay(day)}T00:00:00Z`);
  const to = sql.lit(`${isoDay(day + dayMs)}T00:00:00Z`);
  await sql`create table ${name} (like events including defaults including constraints)`.execute(trx);
  // Writers must not add strays of this day between the move and the attachment.
  await sql`lock table events_default in access exclusive mode`.execute(trx);
  const moved = await sql`
    with strays as (delete from events_default where created_at >= ${from} and created_at < ${to} returning *)
    insert into ${name} select * from strays
  `.execute(trx);
  await sql`alter table events attach partition ${name} for values from (${from}) to (${to})`.execute(trx);
  return Number(moved.numAffectedRows ?? 0);
}

/** The key of an execution, as its columns are named. */
export interface ExecutionKeyRow {
  organization: string;
  automation_id: string;
  execution_id: string;
}

/**
 * Deletes executions whose last event is in the partition of a day: those of the next slice of its keys, after the one
 * given. Resolves with the last key of the slice; undefined when there is none left. A day may hold millions, and their
 * rows must not stay locked meanwhile. Keys come in the order of the index, in which workers lock executions too. Should a
 * plan take another and a deadlock follow, the one that is refused tries again.
 */
export async function deleteExecutionsOf(
  trx: Transaction<Tables>,
  day: number,
  after: ExecutionKeyRow | undefined,
): Promise<ExecutionKeyRow | undefined> {
  const key = sql.raw('automation_id, execution_id, organization');
  const further =
    after === undefined
      ? sql``
      : sql`where (${key}) > (${after.automation_id}::uuid, ${after.execution_id}, ${after.organization})`;
  const { rows } = await sql<ExecutionKeyRow>`
    with slice as (
      select distinct ${key} from ${sql.table(partitionName(day))} ${further} order by ${key} limit ${sliceSize}
    ),
    deleted as (
      delete from executions e using slice s
      where (e.organization, e.automation_id, e.execution_id) = (s.organization, s.automation_id, s.execution_id)
        and e.last_event_at < ${new Date(day + dayMs)}
    )
    select ${key} from slice order by automation_id desc, execution_id desc, organization desc limit 1
  `.execute(trx);
  return rows[0];
}

/** Drops a day's events. */
export async function dropPartition(trx: Transaction<Tables>, day: number): Promise<void> {
  await sql`drop table ${sql.table(partitionName(day))}`.execute(trx);
}

function isoDay(day: number): string {
  return new Date(day).toISOString().slice(0, 10);
}
