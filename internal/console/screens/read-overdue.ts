import type { Execution } from '../../record/execution.ts';
import type { Console } from '../visit.ts';

/** Maximum number of overdue executions read, newest first. */
const most = 100;

/** Executions that have run for longer than `OVERDUE_AFTER_HOURS`; a lost one is not overdue. */
export async function readOverdue(
  organization: string,
  now: number,
  { record, overdueAfterMs }: Pick<Console, 'record' | 'overdueAfterMs'>,
): Promise<Execution[]> {
  const filters = { state: 'running', to: new Date(now - overdueAfterMs) } as const;
  return (await record.listExecutions(organization, filters, { limit: most })).items;
}
