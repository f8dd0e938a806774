import { sql } from 'kysely';
import type { MacKey } from '../../ledger/mac.ts';
import { appendAct } from '../ledger/append-act.ts';
import type { Database } from '../database.ts';
import { noteDeletedLetters } from '../dead-letters.ts';
import { isHere } from '../organizations/here.ts';

/** Notes in each log that retention drops `partitions` of events because a person approved it. */
export async function noteApproval(
  db: Database,
  macKey: MacKey | undefined,
  { by, before, partitions }: { by: string; before: string; partitions: number },
): Promise<void> {
  if (macKey === undefined) return;
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

/** Deletes dead letters from before a time. A log gets an act that names them. */
export function deleteOldLetters(db: Database, macKey: MacKey | undefined, oldest: Date): Promise<void> {
  return db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ organization: string; ids: string[] }>`
      with gone as (delete from dead_letters where dead_at < ${oldest} returning organization, id)
      select organization, array_agg(id order by id) as ids from gone group by organization order by organization
    `.execute(trx);
    for (const { organization, ids } of rows) await noteDeletedLetters(trx, macKey, organization, ids, 'retention');
  });
}
