import type { Gap } from '../expectation/history.ts';
import { advisoryLocks } from '../store/advisory-locks.ts';
import type { Tables } from '../store/database.ts';
import { sql, type Transaction } from '../store/sql.ts';

/** Gaps of the record may become known so much later, in ms. */
const knownLaterMs = 3_600_000;

/** The row of all controllers; times in ms since the Unix epoch. */
export interface ControllerState {
  watermark: number | undefined;
  /** When the watermark last moved. */
  watermarkAt: number | undefined;
  /** The clock of Postgres. */
  now: number;
}

/** Takes the lock of the tick until the end of the transaction; undefined if another one has it. */
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

/** Writes where the watermark is, and why it does not move, if so. */
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

/** Keeps the gaps that are new or longer than before. Several pods may note the same begin. */
export async function keepGaps(trx: Transaction<Tables>, gaps: readonly Gap[], since: number): Promise<void> {
  const recent = gaps.filter(({ until }) => until > since - knownLaterMs);
  if (recent.length === 0) return;
  const longest = new Map(recent.toSorted((a, b) => a.until - b.until).map(({ from, until }) => [from, until]));
  await trx
    .insertInto('record_gaps')
    .values(
      Array.from(longest, ([from, until]) => ({
        from_at: new Date(from),
        until_at: new Date(until),
        reason: 'Ingest rejected events, took none, or had a wrong clock.',
      })),
    )
    .onConflict((conflict) =>
      conflict
        .column('from_at')
        .doUpdateSet({ until_at: sql`greatest(record_gaps.until_at, excluded.until_at)` })
        .where(sql<boolean>`record_gaps.until_at < excluded.until_at`),
    )
    .execute();
}

/** All gaps that are kept, oldest first; those that touch are one. */
export async function readGaps(trx: Transaction<Tables>): Promise<Gap[]> {
  const rows = await trx.selectFrom('record_gaps').select(['from_at', 'until_at']).orderBy('from_at').execute();
  const gaps: Gap[] = [];
  for (const { from_at, until_at } of rows) {
    const last = gaps.at(-1);
    if (last !== undefined && from_at.getTime() <= last.until) last.until = Math.max(last.until, until_at.getTime());
    else gaps.push({ from: from_at.getTime(), until: until_at.getTime() });
  }
  return gaps;
}
