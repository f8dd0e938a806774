import { sql, type Transaction } from 'kysely';
import type { Database, Tables } from './database.ts';
import { locked } from './locked.ts';
import { dropPartition, listPartitions, type Partition } from './partitions.ts';

/** Keys of executions that one statement looks at. */
const sliceSize = 10_000;

/** The key of an execution, as its columns are named. */
interface ExecutionKeyRow {
  organization: string;
  automation_id: string;
  execution_id: string;
}

/**
 * Drops the partitions whose days are all before `oldest` (ms since the Unix epoch), with the executions that ended in them,
 * and dead letters from before. Resolves with the names of the partitions.
 */
export async function dropBefore(db: Database, oldest: number): Promise<string[]> {
  const dropped: string[] = [];
  for (const partition of (await listPartitions(db)).filter(({ to }) => to <= oldest)) {
    await deleteExecutionsEndingIn(db, partition);
    await locked(db, async (trx, present) => {
      if (!isAmong(present, partition)) return;
      await dropPartition(trx, partition);
      dropped.push(partition.name);
    });
  }
  await db.deleteFrom('dead_letters').where('dead_at', '<', new Date(oldest)).execute();
  return dropped;
}

async function deleteExecutionsEndingIn(db: Database, partition: Partition): Promise<void> {
  let last: ExecutionKeyRow | undefined;
  do {
    const after = last;
    last = await locked(db, async (trx, present) =>
      isAmong(present, partition) ? deleteExecutionsOf(trx, partition, after) : undefined,
    );
  } while (last !== undefined);
}

function isAmong(present: readonly Partition[], { name }: Partition): boolean {
  return present.some((partition) => partition.name === name);
}

/**
 * Deletes executions whose last event is in a partition: those of the next slice of its keys, after the one
 * given. Resolves with the last key of the slice; undefined when there is none left. A day may hold millions, and their
 * rows must not stay locked meanwhile. Keys come in the order of the index, in which workers lock executions too. Should a
 * plan take another and a deadlock follow, the one that is refused tries again.
 */
async function deleteExecutionsOf(
  trx: Transaction<Tables>,
  partition: Partition,
  after: ExecutionKeyRow | undefined,
): Promise<ExecutionKeyRow | undefined> {
  const key = sql.raw('automation_id, execution_id, organization');
  const further =
    after === undefined
      ? sql``
      : sql`where (${key}) > (${after.automation_id}::uuid, ${after.execution_id}, ${after.organization})`;
  const { rows } = await sql<ExecutionKeyRow>`
    with slice as (
      select distinct ${key} from ${sql.table(partition.name)} ${further} order by ${key} limit ${sliceSize}
    ),
    deleted as (
      delete from executions e using slice s
      where (e.organization, e.automation_id, e.execution_id) = (s.organization, s.automation_id, s.execution_id)
        and e.last_event_at < ${new Date(partition.to)}
    )
    select ${key} from slice order by automation_id desc, execution_id desc, organization desc limit 1
  `.execute(trx);
  return rows[0];
}
