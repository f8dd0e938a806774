import { sql, type Transaction } from 'kysely';
import type { MacKey } from '../../ledger/mac.ts';
import { appendAct, appendActs, newAct } from '../ledger/append-act.ts';
import type { Database, Tables } from '../database.ts';
import { noteDeletedLetters } from '../dead-letters.ts';
import { closedHere, isHere } from '../organizations/here.ts';
import { dayAfter, isoDay } from './days.ts';
import { organizationsOfDay } from './event-days.ts';
import { lockEvents, type Partition } from './partitions.ts';

/** Notes in each log that retention drops `partitions` of events because a person approved it. */
export async function noteApproval(
  db: Database,
  macKey: MacKey | undefined,
  { by, before, partitions }: { by: string; before: string; partitions: number },
): Promise<void> {
  const logs = await db
    .selectFrom('log_trees')
    .select('organization')
    .where(isHere('organization'))
    .orderBy('organization')
    .execute();
  for (const { organization } of logs) {
    const details = { before, partitions: String(partitions) };
    await appendAct(db, macKey, { organization, kind: 'retention-approved', by, details });
  }
}

/**
 * Notes in the log of each organization with events in a partition that retention drops it now, in
 * the same transaction. The lock keeps further events out, so the leaves of all dropped events are
 * before the act.
 */
export async function noteExpiry(
  trx: Transaction<Tables>,
  macKey: MacKey | undefined,
  dropped: Partition,
): Promise<void> {
  if (macKey === undefined) return;
  await lockEvents(trx);
  const organizations = new Set<string>();
  for (let day = dropped.from; day < dropped.to; day = dayAfter(day)) {
    for (const organization of await organizationsOfDay(trx, day)) organizations.add(organization);
  }
  // What an organization left here when it moved is not its record.
  for (const organization of await closedHere(trx)) organizations.delete(organization);
  await noteExpiryOf(trx, macKey, [...organizations], dropped.to);
}

/** Notes in the logs of organizations that their events from before a time (ms) have expired. */
export async function noteExpiryOf(
  trx: Transaction<Tables>,
  macKey: MacKey | undefined,
  organizations: readonly string[],
  before: number,
): Promise<void> {
  if (macKey === undefined) return;
  const act = { kind: 'events-expired', by: 'retention', details: { before: isoDay(before) } } as const;
  await appendActs(
    trx,
    macKey,
    organizations.map((organization) => newAct({ ...act, organization })),
  );
}

/**
 * Deletes dead letters from before a time. A log gets an act that names them. What an organization
 * left here when it moved stays until `move --clean`.
 */
export function deleteOldLetters(db: Database, macKey: MacKey | undefined, oldest: Date): Promise<void> {
  return db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ organization: string; ids: string[] }>`
      with gone as (
        delete from dead_letters where dead_at < ${oldest} and ${isHere('organization')} returning organization, id
      )
      select organization, array_agg(id order by id) as ids from gone group by organization order by organization
    `.execute(trx);
    for (const { organization, ids } of rows) await noteDeletedLetters(trx, macKey, organization, ids, 'retention');
  });
}
