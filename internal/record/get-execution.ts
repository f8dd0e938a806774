import type { Database } from '../store/database.ts';
import { sql } from '../store/sql.ts';
import { executionOf, shownColumns, type Execution, type ExecutionRow } from './execution.ts';
import { readAs } from './read-as.ts';

/** One execution by its key; undefined when there is none. */
export function getExecution(
  db: Database,
  organization: string,
  automationId: string,
  executionId: string,
): Promise<Execution | undefined> {
  return readAs(db, organization, async (trx) => {
    const { rows } = await sql<ExecutionRow>`
      select ${shownColumns(organization)} from executions as r
      where organization = ${organization} and automation_id = ${automationId}::uuid and execution_id = ${executionId}
    `.execute(trx);
    return rows.map(executionOf)[0];
  });
}
