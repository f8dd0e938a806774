import { advisoryLocks } from '../../store/advisory-locks.ts';
import type { Tables } from '../../store/database.ts';
import { sql, type Transaction } from '../../store/sql.ts';

/** The row that all controllers share; times in ms since the Unix epoch. */
export interface ControllerState {
  watermark: number | undefined;
  /** When the watermark last moved. */
  watermarkAt: number | undefined;
  /** The clock of Postgres. */
  now: number;
}

/**
 * Takes the tick's lock until the end of the transaction; undefined if another controller holds it.
 */
export async function lockState(trx: Transaction<Tables>): Promise<ControllerState | undefined> {
  const locked = await sql<{ locked: boolean }>`
    select pg_try_advisory_xact_lock(${sql.lit(advisoryLocks.tick)}) as locked
  `.execute(trx);
  if (locked.rows[0]?.locked !== true) return undefined;
  const { rows } = await sql<{ watermark: Date | null; watermark_at: Date | null; now: Date }>`
    select watermark, watermark_at, clock_timestamp() as now from controller_state
  `.execute(trx);
  const [row] = rows;
  if (row === undefined) throw new Error('the table controller_state has lost its row');
  return {
    watermark: row.watermark?.getTime(),
    watermarkAt: row.watermark_at?.getTime(),
    now: row.now.getTime(),
  };
}

/** Saves the watermark, and the reason if it does not move. */
export async function saveState(
  trx: Transaction<Tables>,
  { watermark, watermarkAt, now, blindness }: SavedState,
): Promise<void> {
  const date = (time: number | undefined) => (time === undefined ? null : new Date(time));
  await trx
    .updateTable('controller_state')
    .set({
      watermark: date(watermark),
      watermark_at: date(watermarkAt),
      ticked_at: new Date(now),
      blind_since: date(blindness?.since),
      blind_reason: blindness?.reason ?? null,
    })
    .execute();
}

export interface SavedState extends ControllerState {
  blindness: { since: number; reason: string } | undefined;
}
