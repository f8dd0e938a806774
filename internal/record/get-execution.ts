import type { Database } from '../store/database.ts';
import { sql } from '../store/sql.ts';
import { executionColumns, executionOf, type Execution, type ExecutionRow } from './execution.ts';
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
      select ${executionColumns} from executions
      where organization = ${organization} and automation_id = ${automationId}::uuid and execution_id = ${executionId}
    `.execute(trx);
    return rows.map(executionOf)[0];
  });
}
