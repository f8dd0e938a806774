import { sql, type Transaction } from 'kysely';
import { mostAhead } from '../../event/occurred-at.ts';
import type { MacKey } from '../../ledger/mac.ts';
import type { AskedPartitions, WaitingPartitions } from '../../event/outcome/maintenance-report.ts';
import type { Database, Tables } from '../database.ts';
import { isoDay } from './days.ts';
import { deleteOldLetters, noteApproval, noteExpiry } from './retention-acts.ts';
import { withDaysInError } from '../error-context.ts';
import type { ArchivedRows, FindArchived } from './archived.ts';
import { countColdDays, expireColdDays } from './expire-cold-days.ts';
import { changedSince, dropExpired, expirePartition, listExpired } from './expired.ts';
import { withMaintenanceLock } from './with-maintenance-lock.ts';
import { isOnMove } from '../organizations/here.ts';
import { listPartitions, type Partition } from './partitions.ts';

/**
 * Keys of executions per statement. Postgres assumes that each key searches every partition: with
 * many more it would choose to read all executions.
 */
const sliceSize = 1_000;

/** Most days that a run drops without approval: one day's, and two more after a pause. */
const mostUnasked = 3;

export interface RetentionOptions {
  /** The first day that stays; with {@link RetentionOptions.today} in ms since the Unix epoch. */
  oldest: number;
  today: number;
  /** Retention drops only what the archive holds. Absent without an archive. */
  findArchived?: FindArchived | undefined;
  /**
   * If given, logs get acts that say what is dropped, who approved it, and which letters are gone.
   */
  macKey?: MacKey | undefined;
}

export interface Dropped {
  /** The names of the partitions. */
  dropped: string[];
  waiting?: WaitingPartitions;
  asks?: AskedPartitions;
}

/** A partition past retention and, with an archive, what the archive has of it. */
interface Droppable {
  partition: Partition;
  archived: ArchivedRows | undefined;
}

/** The key of an execution, by column. */
interface ExecutionKeyRow {
  organization: string;
  automation_id: string;
  execution_id: string;
}

/**
 * Drops the partitions before `oldest` (ms since the Unix epoch), the executions whose last event
 * was in them, and older dead letters. Detaches all partitions before it deletes the first
 * execution. After a failure an execution may lack its events for a while, but no event lacks its
 * execution: the next event would count that wrongly. The next run finishes the work. Stops at the
 * first partition that the archive lacks, and waits for approval if too many would go
 * (docs/operate/postgres.md).
 */
export async function dropBefore(
  db: Database,
  { oldest, today, findArchived, macKey }: RetentionOptions,
): Promise<Dropped> {
  const past = (await listPartitions(db)).filter(({ to }) => to <= oldest);
  const { droppable, missing } = await findDroppable(past, findArchived);
  const approved = await approvedBefore(db, today);
  const unasked =
    droppable.filter(({ partition: { to } }) => to > approved.before).length +
    (await countColdDays(db, oldest, approved.before));
  if (unasked > mostUnasked) return { dropped: [], asks: { partitions: unasked, before: isoDay(oldest) } };
  const days = droppable.length + (await countColdDays(db, oldest, -Infinity));
  if (days > mostUnasked) {
    const before = isoDay(approved.before);
    await noteApproval(db, macKey, { by: approved.by, before, partitions: days - unasked });
  }
  const waiting = await expireAll(db, past, droppable, { missing, macKey });
  // An execution stays as long as one of its events.
  const oldestLeft = waiting === undefined ? oldest : (past.at(-waiting.partitions)?.from ?? oldest);
  const expired = await listExpired(db);
  for (const table of expired) await deleteExecutionsEndingIn(db, table, oldestLeft);
  const dropped: string[] = [];
  for (const table of expired) {
    await withMaintenanceLock(db, async (trx) => {
      if (await isExpired(trx, table)) dropped.push(await dropExpired(trx, table));
    });
  }
  await expireColdDays(db, oldestLeft, macKey);
  await deleteOldLetters(db, macKey, new Date(oldest));
  return { dropped, ...(waiting !== undefined && { waiting }) };
}

/** The partitions before the first one that the archive lacks, and what that one lacks. */
async function findDroppable(
  partitions: readonly Partition[],
  findArchived: FindArchived | undefined,
): Promise<{ droppable: Droppable[]; missing?: string }> {
  const droppable: Droppable[] = [];
  for (const partition of partitions) {
    const archived = await findArchived?.(partition).catch((error: unknown) => ({ missing: String(error) }));
    if (archived !== undefined && 'missing' in archived) return { droppable, missing: archived.missing };
    droppable.push({ partition, archived });
  }
  return { droppable };
}

/**
 * The time (ms) before which a person has approved dropping partitions, and who. A day in the
 * future approves nothing, so no approval lasts forever.
 */
async function approvedBefore(db: Database, today: number): Promise<{ before: number; by: string }> {
  const { rows } = await sql<{ before: number; by: string }>`
    select extract(epoch from before)::float8 * 1000 as before, approved_by as by from retention_approvals
    where before <= ${isoDay(today)}::date order by retention_approvals.before desc, approved_at limit 1
  `.execute(db);
  return rows[0] ?? { before: -Infinity, by: '' };
}

/** Stops at the first partition that has changed since the archive was read. */
async function expireAll(
  db: Database,
  past: readonly Partition[],
  droppable: readonly Droppable[],
  { missing, macKey }: { missing: string | undefined; macKey: MacKey | undefined },
): Promise<WaitingPartitions | undefined> {
  for (const [done, { partition, archived }] of droppable.entries()) {
    const reason = await expire(db, macKey, partition, archived);
    if (reason !== undefined) return { partitions: past.length - done, reason };
  }
  return missing === undefined ? undefined : { partitions: past.length - droppable.length, reason: missing };
}

/** Resolves with the reason if a partition stays: its rows have changed, or a move has begun. */
async function expire(
  db: Database,
  macKey: MacKey | undefined,
  partition: Partition,
  archived: ArchivedRows | undefined,
): Promise<string | undefined> {
  let reason: string | undefined;
  await withDaysInError(partition, () =>
    withMaintenanceLock(db, async (trx, present) => {
      if (!present.some(({ name }) => name === partition.name)) return;
      if (await isOnMove(trx)) reason = 'an organization is on a move';
      else if (archived !== undefined) reason = await changedSince(trx, partition, archived);
      if (reason !== undefined) return;
      await noteExpiry(trx, macKey, partition);
      await expirePartition(trx, partition);
    }),
  );
  return reason;
}

async function deleteExecutionsEndingIn(db: Database, table: string, oldest: number): Promise<void> {
  let last: ExecutionKeyRow | undefined;
  do {
    const after = last;
    last = await withMaintenanceLock(db, async (trx) =>
      (await isExpired(trx, table)) ? deleteExecutionsOf(trx, table, oldest, after) : undefined,
    );
  } while (last !== undefined);
}

/** False when another worker has dropped it. */
async function isExpired(trx: Transaction<Tables>, table: string): Promise<boolean> {
  return (await listExpired(trx)).includes(table);
}

/**
 * Deletes the executions of one slice of keys whose last event was accepted before `oldest`.
 * Resolves with the last key of the slice; undefined at the end. Slices keep row locks short. Keys
 * come in index order, in which workers lock executions too; after a deadlock the loser retries.
 */
async function deleteExecutionsOf(
  trx: Transaction<Tables>,
  table: string,
  oldest: number,
  after: ExecutionKeyRow | undefined,
): Promise<ExecutionKeyRow | undefined> {
  const key = sql.raw('automation_id, execution_id, organization');
  const further =
    after === undefined
      ? sql``
      : sql`where (${key}) > (${after.automation_id}::uuid, ${after.execution_id}, ${after.organization})`;
  const { rows } = await sql<ExecutionKeyRow>`
    with slice as (
      select distinct ${key} from ${sql.table(table)} ${further} order by ${key} limit ${sliceSize}
    ),
    deleted as (
      delete from executions e using slice s
      where (e.organization, e.automation_id, e.execution_id) = (s.organization, s.automation_id, s.execution_id)
        and e.last_event_at < ${new Date(oldest)} and coalesce(e.last_accepted_at, '-infinity') < ${new Date(oldest)}
      returning e.organization, e.automation_id, e.execution_id
    ),
    -- An event may have occurred a little later than it was accepted; then only the table events
    -- tells.
    deleted_ahead as (
      delete from executions e using slice s
      where (e.organization, e.automation_id, e.execution_id) = (s.organization, s.automation_id, s.execution_id)
        and e.last_accepted_at < ${new Date(oldest)}
        and e.last_event_at >= ${new Date(oldest)} and e.last_event_at <= ${new Date(oldest + mostAhead)}
        and not exists (
          select from events
          where (events.automation_id, events.execution_id, events.organization) = (s.automation_id, s.execution_id, s.organization)
        )
      returning e.organization, e.automation_id, e.execution_id
    ),
    no_longer_running as (
      delete from running_executions r using (select * from deleted union all select * from deleted_ahead) as e
      where (r.organization, r.automation_id, r.execution_id) = (e.organization, e.automation_id, e.execution_id)
    )
    select ${key} from slice order by automation_id desc, execution_id desc, organization desc limit 1
  `.execute(trx);
  return rows[0];
}
