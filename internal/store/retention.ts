import { sql, type Transaction } from 'kysely';
import { mostAhead } from '../event/occurred-at.ts';
import type { Database, Tables } from './database.ts';
import { withDaysInError } from './error-context.ts';
import { dropExpired, expirePartition, listExpired } from './expired.ts';
import { withMaintenanceLock } from './with-maintenance-lock.ts';
import { listPartitions, type Partition } from './partitions.ts';

/**
 * Keys of executions per statement. Postgres estimates a search in every partition for each key:
 * for many more it would rather read all executions.
 */
const sliceSize = 1_000;

/** The key of an execution, by column. */
interface ExecutionKeyRow {
  organization: string;
  automation_id: string;
  execution_id: string;
}

/**
 * Drops the partitions before `oldest` (ms since the Unix epoch), the executions whose last event
 * was in them, and older dead letters. Resolves with the names of the partitions. It detaches all
 * partitions before it deletes the first execution. After a failure an execution may lack its
 * events for a while, but no event lacks its execution: the next event would count that wrongly.
 * The next run finishes the work. A table that cannot be dropped comes last.
 */
export async function dropBefore(db: Database, oldest: number): Promise<string[]> {
  for (const partition of (await listPartitions(db)).filter(({ to }) => to <= oldest)) await expire(db, partition);
  const expired = await listExpired(db);
  for (const table of expired) await deleteExecutionsEndingIn(db, table, oldest);
  const dropped: string[] = [];
  for (const table of expired) {
    await withMaintenanceLock(db, async (trx) => {
      if (await isExpired(trx, table)) dropped.push(await dropExpired(trx, table));
    });
  }
  await db.deleteFrom('dead_letters').where('dead_at', '<', new Date(oldest)).execute();
  return dropped;
}

async function expire(db: Database, partition: Partition): Promise<void> {
  await withDaysInError(partition, () =>
    withMaintenanceLock(db, async (trx, present) => {
      if (present.some(({ name }) => name === partition.name)) await expirePartition(trx, partition);
    }),
  );
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
 * Deletes executions of one slice of keys whose last event was accepted before `oldest`. Resolves
 * with the last key of the slice; undefined at the end. Slices keep row locks short. Keys come in
 * index order, the order in which workers lock executions; after a deadlock the loser retries.
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
    ),
    -- An event may have occurred a little later than it was accepted; then only events tells.
    deleted_ahead as (
      delete from executions e using slice s
      where (e.organization, e.automation_id, e.execution_id) = (s.organization, s.automation_id, s.execution_id)
        and e.last_accepted_at < ${new Date(oldest)}
        and e.last_event_at >= ${new Date(oldest)} and e.last_event_at <= ${new Date(oldest + mostAhead)}
        and not exists (
          select from events
          where (events.automation_id, events.execution_id, events.organization) = (s.automation_id, s.execution_id, s.organization)
        )
    )
    select ${key} from slice order by automation_id desc, execution_id desc, organization desc limit 1
  `.execute(trx);
  return rows[0];
}
