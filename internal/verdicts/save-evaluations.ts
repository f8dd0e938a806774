import type { Verdict } from '../expectation/verdict.ts';
import type { Tables } from '../store/database.ts';
import { sql, type Transaction } from '../store/sql.ts';
import type { DueAutomation } from './due-automations.ts';

/** The outcome of one evaluation; times in ms since the Unix epoch. */
export interface SavedEvaluation extends Pick<DueAutomation, 'organization' | 'automation_id' | 'declared_at'> {
  verdicts: readonly Verdict[];
  nextAt: number;
}

/** Writes verdicts, except those of a declaration that has changed meanwhile: it is still due. */
export async function saveEvaluations(
  trx: Transaction<Tables>,
  saved: readonly SavedEvaluation[],
  watermark: number,
): Promise<void> {
  await sql`
    update automations a
    set next_at = w.next_at, evaluated_at = ${new Date(watermark)}, verdict = w.verdict::jsonb
    from unnest(
      ${saved.map(({ organization }) => organization)}::text[],
      ${saved.map(({ automation_id }) => automation_id)}::uuid[],
      ${saved.map(({ declared_at }) => declared_at.toISOString())}::timestamptz[],
      ${saved.map(({ nextAt }) => new Date(nextAt).toISOString())}::timestamptz[],
      ${saved.map(({ verdicts }) => JSON.stringify(verdicts))}::text[]
    ) as w (organization, automation_id, declared_at, next_at, verdict)
    where (a.organization, a.automation_id, a.declared_at) = (w.organization, w.automation_id, w.declared_at)
  `.execute(trx);
}
