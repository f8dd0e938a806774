import type { Verdict } from '../../expectation/verdict.ts';
import type { Tables } from '../../store/database.ts';
import { sql, type Transaction } from '../../store/sql.ts';
import type { DueAutomation } from './due-automations.ts';
import type { LastStarts } from './last-starts.ts';

/** The outcome of one evaluation; times in ms since the Unix epoch. */
export interface SavedEvaluation extends Pick<
  DueAutomation,
  'organization' | 'automation_id' | 'declared_at' | 'next_at' | 'verdict'
> {
  verdicts: readonly Verdict[];
  nextAt: number;
  starts: LastStarts;
}

/**
 * True if the row already says the same and is due early enough. An automation with an open alert
 * is evaluated whenever it sends events, and need not be written each time.
 */
export function isWritten({ next_at, verdict, nextAt, verdicts }: SavedEvaluation, watermark: number): boolean {
  if (next_at === null || verdict === null || next_at.getTime() <= watermark || next_at.getTime() > nextAt)
    return false;
  return textOf(verdict) === textOf(verdicts);
}

function textOf(verdicts: readonly Verdict[]): string {
  return verdicts.map((one) => [one.kind, one.occurrence, one.since, one.told, one.reason].join(' ')).join('\n');
}

/** Writes verdicts, except those for a declaration that has changed meanwhile: it stays due. */
export async function saveEvaluations(
  trx: Transaction<Tables>,
  saved: readonly SavedEvaluation[],
  watermark: number,
): Promise<void> {
  if (saved.length === 0) return;
  await sql`
    update automations a
    set next_at = w.next_at, evaluated_at = ${new Date(watermark)}, verdict = w.verdict::jsonb,
      start_before = w.start_before, last_start = w.last_start
    from unnest(
      ${saved.map(({ organization }) => organization)}::text[],
      ${saved.map(({ automation_id }) => automation_id)}::uuid[],
      ${saved.map(({ declared_at }) => declared_at.toISOString())}::timestamptz[],
      ${saved.map(({ nextAt }) => new Date(nextAt).toISOString())}::timestamptz[],
      ${saved.map(({ verdicts }) => JSON.stringify(verdicts))}::text[],
      ${saved.map(({ starts }) => isoOf(starts.at(-2)))}::timestamptz[],
      ${saved.map(({ starts }) => isoOf(starts.at(-1)))}::timestamptz[]
    ) as w (organization, automation_id, declared_at, next_at, verdict, start_before, last_start)
    where (a.organization, a.automation_id, a.declared_at) = (w.organization, w.automation_id, w.declared_at)
  `.execute(trx);
}

function isoOf(time: number | undefined): string | null {
  return time === undefined ? null : new Date(time).toISOString();
}
