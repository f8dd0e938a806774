import { sql, type Transaction } from 'kysely';
import type { MacKey } from '../../ledger/mac.ts';
import type { Database, Tables } from '../database.ts';
import { closedHere } from '../organizations/here.ts';
import { isoDay } from './days.ts';
import { noteExpiryOf } from './retention-acts.ts';
import { withMaintenanceLock } from './with-maintenance-lock.ts';

/** Executions of one statement, so that row locks are short. */
const sliceSize = 1_000;

/** How many days before `oldest` (ms) only the archive has, and of them those from `asked` on. */
export async function countColdDays(db: Database, oldest: number, asked: number): Promise<number> {
  const since = Number.isFinite(asked) ? sql`and day >= ${isoDay(asked)}::date` : sql``;
  const { rows } = await sql<{ days: number }>`
    select count(distinct day)::integer as days from cold_days where day < ${isoDay(oldest)}::date ${since}
  `.execute(db);
  return rows[0]?.days ?? 0;
}

/**
 * Forgets the cold days before `oldest`, and deletes the executions whose last event came before.
 * The objects stay in the archive. Each log gets an act that says so. The next run finishes the
 * work after a failure.
 */
export async function expireColdDays(db: Database, oldest: number, macKey: MacKey | undefined): Promise<void> {
  const before = sql`day < ${isoDay(oldest)}::date`;
  const { rows } = await sql<{ organization: string }>`
    select distinct organization from cold_days where ${before} order by organization
  `.execute(db);
  const gone = new Set(await closedHere(db));
  for (const { organization } of rows) {
    while ((await withMaintenanceLock(db, (trx) => deleteEnded(trx, organization, oldest))) === sliceSize);
    await withMaintenanceLock(db, async (trx) => {
      // What an organization left here when it moved is not its record.
      if (!gone.has(organization)) await noteExpiryOf(trx, macKey, [organization], oldest);
      await sql`delete from cold_days where organization = ${organization} and ${before}`.execute(trx);
    });
  }
}

/**
 * Deletes a slice of the executions whose last event was accepted before `oldest`, oldest first.
 */
async function deleteEnded(trx: Transaction<Tables>, organization: string, oldest: number): Promise<number> {
  const time = new Date(oldest);
  const { rows } = await sql<{ deleted: number }>`
    with slice as (
      select automation_id, execution_id from executions
      where organization = ${organization} and first_event_at < ${time} and last_event_at < ${time}
        and coalesce(last_accepted_at, '-infinity') < ${time}
      order by first_event_at limit ${sliceSize}
    ),
    deleted as (
      delete from executions e using slice s
      where e.organization = ${organization} and (e.automation_id, e.execution_id) = (s.automation_id, s.execution_id)
        and e.last_event_at < ${time} and coalesce(e.last_accepted_at, '-infinity') < ${time}
      returning e.automation_id, e.execution_id
    ),
    no_longer_running as (
      delete from running_executions r using deleted d
      where r.organization = ${organization} and (r.automation_id, r.execution_id) = (d.automation_id, d.execution_id)
    )
    select count(*)::integer as deleted from slice
  `.execute(trx);
  return rows[0]?.deleted ?? 0;
}
