import { sql } from '../../store/sql.ts';
import type { Finding } from './finding.ts';
import type { Reading } from './read-database.ts';

/**
 * The finding about the first execution that runs, and is not in the table of running ones, or the
 * other way round: the console would show it wrongly, and no alert would say that it is lost.
 */
export async function differingRunning(trx: Reading, organization: string): Promise<Finding[]> {
  const { rows } = await sql<{ automation_id: string; execution_id: string; runs: boolean }>`
    with running as (
      select automation_id, execution_id, first_event_at from executions
      where organization = ${organization} and error_count = 0 and end_count = 0
    ),
    listed as (
      select automation_id, execution_id, first_event_at from running_executions where organization = ${organization}
    )
    select automation_id, execution_id, e.first_event_at is not null as runs
    from running e full join listed l using (automation_id, execution_id)
    where e.first_event_at is distinct from l.first_event_at
    order by automation_id, execution_id limit 1
  `.execute(trx);
  return rows.map(({ automation_id, execution_id, runs }) => ({
    sentence: `Execution ${execution_id} of automation ${automation_id} ${
      runs ? 'runs, and the list of running executions differs' : 'does not run, and is in the list of running ones'
    }: the list was changed.`,
  }));
}
