import { sql, type Transaction } from 'kysely';
import type { WaitingPartitions } from '../../event/outcome/maintenance-report.ts';
import { withDaysInError } from '../error-context.ts';
import type { Database, Tables } from '../database.ts';
import { findManifestWithoutAct } from '../ledger/manifest-without-act.ts';
import { isOnMove } from '../organizations/here.ts';
import type { ColdObject } from '../tables/cold-days-table.ts';
import { isoDay } from './days.ts';
import { changedSince } from './expired.ts';
import { listPartitions, lockEvents, type Partition } from './partitions.ts';
import type { ArchivedRows, FindArchived } from './archived.ts';
import { withMaintenanceLock } from './with-maintenance-lock.ts';

/** The result of a run: the partitions that became cold, and those that wait for the archive. */
export interface Cooled {
  cooled: string[];
  waiting?: WaitingPartitions;
}

/**
 * Drops the partitions before `hottest` (ms since the Unix epoch) that the archive holds, and notes
 * in the same transaction where their events are: a reader finds an event in one of the two places.
 * Executions stay. A partition that the archive or a log lacks waits, and delays no other one.
 */
export async function coolBefore(
  db: Database,
  { hottest, findArchived }: { hottest: number; findArchived: FindArchived },
): Promise<Cooled> {
  const cooled: string[] = [];
  const reasons: string[] = [];
  for (const partition of (await listPartitions(db)).filter(({ to }) => to <= hottest)) {
    const archived = await findArchived(partition, true).catch((error: unknown) => ({ missing: String(error) }));
    const reason =
      'missing' in archived
        ? archived.missing
        : await cool(db, partition, archived).catch((error: unknown) => String(error));
    if (reason === undefined) cooled.push(partition.name);
    else reasons.push(reason);
  }
  const [reason] = reasons;
  return { cooled, ...(reason !== undefined && { waiting: { partitions: reasons.length, reason } }) };
}

/** Resolves with the reason if the partition stays. */
async function cool(db: Database, partition: Partition, archived: ArchivedRows): Promise<string | undefined> {
  let reason: string | undefined;
  await withDaysInError(partition, () =>
    withMaintenanceLock(db, async (trx, present) => {
      // Another worker may have dropped it.
      if (!present.some(({ name }) => name === partition.name)) return;
      const { objects } = archived;
      const unknown = await findManifestWithoutAct(trx, objects);
      if (await isOnMove(trx)) reason = 'an organization is on a move';
      else if (unknown !== undefined) reason = `the log lacks the manifest of ${unknown}: export with LEDGER_MAC_KEY`;
      else reason = await changedSince(trx, partition, archived);
      if (reason === undefined) await replace(trx, partition, objects);
    }),
  );
  return reason;
}

async function replace(trx: Transaction<Tables>, { name }: Partition, objects: readonly ColdObject[]): Promise<void> {
  await lockEvents(trx);
  if (objects.length > 0) await trx.insertInto('cold_days').values(objects.map(rowOf)).execute();
  await sql`alter table events detach partition ${sql.table(name)}`.execute(trx);
  await sql`drop table ${sql.table(name)}`.execute(trx);
}

function rowOf({ organization, day, object, rows, manifestSha256 }: ColdObject) {
  return { organization, day: isoDay(day), object, rows, manifest_sha256: manifestSha256 };
}
