import type { Database } from '../store/database.ts';
import { executionsWithId } from '../store/compacted/expanded.ts';
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
      select ${shownColumns(organization)} from (${executionsWithId({
        organization: sql`${organization}`,
        automationId: sql`${automationId}::uuid`,
        executionId: sql`${executionId}`,
      })}) as r
    `.execute(trx);
    return rows.map(executionOf)[0];
  });
}
