import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../store/database.ts';
import { sql, type RawBuilder } from '../../store/sql.ts';

/** Age, in days, from which a gap can no longer be in the window of an expected run. */
const gapDays = 400;

/** Maximum rows per statement. */
const sliceSize = 1_000;

/** Pause between two statements, in ms: ticks and deliveries need Postgres too. */
const pauseMs = 50;

/**
 * Deletes resolved alerts, finished channel messages and owners' acts after `retentionDays`; 0
 * keeps them. Also deletes gaps that no longer matter, and names of undeclared automations whose
 * last run is deleted. Each statement deletes a slice that an index finds, by the clock of
 * Postgres. Any number of processes may run it.
 */
export async function deleteOld(db: Database, retentionDays: number, stopping: AbortSignal): Promise<void> {
  const before = (days: number) => sql`now() - ${days}::float8 * interval '1 day'`;
  await deleteAll(db, 'record_gaps', sql`until_at`, sql`until_at < ${before(gapDays)}`, stopping);
  await deleteAll(db, 'automations', sql`declared_at`, isForgotten(before(1)), stopping);
  if (retentionDays === 0) return;
  await deleteAll(db, 'alerts', sql`resolved_at`, sql`resolved_at < ${before(retentionDays)}`, stopping);
  await deleteAll(db, 'acts', sql`made_at`, isDone(before(retentionDays)), stopping);
  const over = sql`coalesce(delivered_at, given_up_at)`;
  const isOver = sql`(delivered_at is not null or given_up_at is not null) and ${over} < ${before(retentionDays)}`;
  await deleteAll(db, 'deliveries', over, isOver, stopping);
}

/** True for an old act that no longer counts: a mute that has ended goes before its end does. */
function isDone(before: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`made_at < ${before} and recorded_at is not null and (
      kind <> 'mute' or until_at < now() or exists (
        select from acts e where e.organization = acts.organization and e.kind = 'unmute' and e.about = acts.id
      )
    ) and (
      kind <> 'unmute' or not exists (
        select from acts m where m.organization = acts.organization and m.id = acts.about
      )
    )`;
}

/** True for an undeclared automation of which only the name is left. */
function isForgotten(before: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`not declared and display_name <> '' and coalesce(verdict, '[]') = '[]' and declared_at < ${before}
    and not exists (
      select from executions e
      where e.organization = automations.organization and e.automation_id = automations.automation_id
    ) and not exists (
      select from compacted_executions c
      where c.organization = automations.organization and c.automation_id = automations.automation_id
    )`;
}

/** Deletes in slices, and skips rows that another process has locked. */
async function deleteAll(
  db: Database,
  table: string,
  by: RawBuilder<unknown>,
  isOld: RawBuilder<unknown>,
  stopping: AbortSignal,
): Promise<void> {
  for (;;) {
    stopping.throwIfAborted();
    const { numAffectedRows = 0n } = await sql`
      delete from ${sql.table(table)} where ctid = any(array(
        select ctid from ${sql.table(table)} where ${isOld} order by ${by} limit ${sql.lit(sliceSize)}
        for update skip locked
      ))
    `.execute(db);
    if (numAffectedRows < BigInt(sliceSize)) return;
    await sleep(pauseMs, undefined, { signal: stopping });
  }
}
