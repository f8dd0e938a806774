import type { Database } from '../store/database.ts';
import { sql } from '../store/sql.ts';
import { time } from './conditions.ts';
import { findExecutions } from './find-executions.ts';
import { overEvents } from './over-events.ts';
import { readAs } from './read-as.ts';

/** What names one execution of an organization. */
export interface ExecutionId {
  automationId: string;
  executionId: string;
}

/** The id of the event that was accepted last; undefined if the execution has no event. */
export async function findNewestEvent(
  db: Database,
  organization: string,
  { automationId, executionId }: ExecutionId,
): Promise<string | undefined> {
  const execution = { automationId, executionId };
  const found = await readAs(db, organization, (trx) => findExecutions(trx, organization, execution));
  if (found === undefined) return undefined;
  const needed = { ...found, executionId, keep: 'newest', most: 1 } as const;
  return overEvents(db, organization, needed, async (trx, { source }) => {
    const { rows } = await sql<{ id: string }>`
      select id from ${source} as events
      where organization = ${organization} and automation_id = ${automationId}::uuid and execution_id = ${executionId}
        and created_at between ${time(found.from)} and ${time(found.until)}
      order by created_at desc, id desc limit 1
    `.execute(trx);
    return rows[0]?.id;
  });
}
