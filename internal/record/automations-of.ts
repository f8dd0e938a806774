import { compactedWithId } from '../store/compacted/expanded.ts';
import { sql } from '../store/sql.ts';
import type { Condition } from './conditions.ts';
import type { Reading } from './read-as.ts';

/** A part of the automations: the `most` smallest ids after a given one. */
export interface Part {
  after?: string | undefined;
  most?: number;
}

/**
 * The query of an organization's automations, unordered. It skips from one to the next in an index
 * instead of reading all executions. Of each, the newest executions are rows.
 */
export function automationsOf(organization: string, { after, most }: Part = {}): Condition {
  const following = after === undefined ? sql`` : sql`and automation_id > ${after}::uuid`;
  const further = most === undefined ? sql`` : sql`and previous.number < ${most}::integer`;
  return sql`
    with recursive automations as (
      (select automation_id, 1 as number from executions where organization = ${organization} ${following}
        order by automation_id limit 1)
      union all
      select (select automation_id from executions
        where organization = ${organization} and automation_id > previous.automation_id
        order by automation_id limit 1), previous.number + 1
      from automations previous where previous.automation_id is not null ${further}
    )
    select automation_id from automations where automation_id is not null
  `;
}

/** The automations that have an execution with this id. */
export async function automationsWith(trx: Reading, organization: string, executionId: string): Promise<string[]> {
  const { rows } = await sql<{ automation_id: string }>`
    select automation_id from (${automationsOf(organization)}) as automations
    join executions using (automation_id)
    where organization = ${organization} and execution_id = ${executionId}
    union
    select automation_id from (${compactedWithId({
      organization: sql`${organization}`,
      executionId: sql`${executionId}`,
    })}) as compacted
  `.execute(trx);
  return rows.map((row) => row.automation_id);
}
