import { sql } from '../store/sql.ts';
import { automationsWith } from './automations-of.ts';
import type { Reading } from './read-as.ts';

/** The executions with one id, and the times of their first and last event. */
export interface FoundExecutions {
  automationIds: string[];
  firstEventAt: Date;
  lastEventAt: Date;
}

/** Finds the executions with an id, of one automation or of all; undefined when there is none. */
export async function findExecutions(
  trx: Reading,
  organization: string,
  { automationId, executionId }: { automationId?: string | undefined; executionId: string },
): Promise<FoundExecutions | undefined> {
  const ids = automationId === undefined ? await automationsWith(trx, organization, executionId) : [automationId];
  const { rows } = await sql<{ automation_id: string; first_event_at: Date; last_event_at: Date }>`
    select automation_id, first_event_at, last_event_at from executions
    where organization = ${organization} and automation_id = any(${ids}::uuid[]) and execution_id = ${executionId}
  `.execute(trx);
  if (rows.length === 0) return undefined;
  return {
    automationIds: rows.map((row) => row.automation_id),
    firstEventAt: new Date(Math.min(...rows.map((row) => row.first_event_at.getTime()))),
    lastEventAt: new Date(Math.max(...rows.map((row) => row.last_event_at.getTime()))),
  };
}
