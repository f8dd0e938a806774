import { executionsWithId } from '../store/compacted/expanded.ts';
import { sql } from '../store/sql.ts';
import { automationsWith } from './automations-of.ts';
import { acceptedBetween, type ExecutionRow } from './execution.ts';
import type { Reading } from './read-as.ts';

/** The executions with one id, and the times between which their events were accepted. */
export interface FoundExecutions {
  automationIds: string[];
  from: Date;
  until: Date;
}

/** Finds the executions with an id, of one automation or of all; undefined when there is none. */
export async function findExecutions(
  trx: Reading,
  organization: string,
  { automationId, executionId }: { automationId?: string | undefined; executionId: string },
): Promise<FoundExecutions | undefined> {
  const ids = automationId === undefined ? await automationsWith(trx, organization, executionId) : [automationId];
  const { rows } = await sql<ExecutionRow>`
    select automation_id, first_event_at, last_event_at, last_accepted_at from (${executionsWithId({
      organization: sql`${organization}`,
      automationId: sql`any(${ids}::uuid[])`,
      executionId: sql`${executionId}`,
    })}) as found
  `.execute(trx);
  if (rows.length === 0) return undefined;
  const times = rows.map(acceptedBetween);
  return {
    automationIds: rows.map((row) => row.automation_id),
    from: new Date(Math.min(...times.map(({ from }) => from.getTime()))),
    until: new Date(Math.max(...times.map(({ until }) => until.getTime()))),
  };
}
