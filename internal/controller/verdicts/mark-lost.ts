import type { Tables } from '../../store/database.ts';
import { sql, type Transaction } from '../../store/sql.ts';
import type { AutomationKey } from './due-automations.ts';

/** A run lost since `from`, in ms since the Unix epoch. */
export interface LostRun extends AutomationKey {
  occurrence: string;
  from: number;
}

/** Marks the runs that are still running as lost. An event of the run removes the mark. */
export async function markLost(trx: Transaction<Tables>, lost: readonly LostRun[]): Promise<void> {
  if (lost.length === 0) return;
  await sql`
    update running_executions r set lost_at = w.lost_at
    from unnest(
      ${lost.map(({ organization }) => organization)}::text[], ${lost.map((run) => run.automation_id)}::uuid[],
      ${lost.map(({ occurrence }) => occurrence)}::text[],
      ${lost.map(({ from }) => new Date(from).toISOString())}::timestamptz[]
    ) as w (organization, automation_id, execution_id, lost_at)
    where r.lost_at is null and (r.organization, r.automation_id, r.execution_id)
      = (w.organization, w.automation_id, w.execution_id)
  `.execute(trx);
}
