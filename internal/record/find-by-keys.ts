import { mayBeCold } from '../store/partitions/cold-days.ts';
import { sql } from '../store/sql.ts';
import { shownColumns, withOtherColumns, type ExecutionKey, type ExecutionRow } from './execution.ts';
import type { Reading } from './read-as.ts';

/**
 * Reads the executions with these keys, in this order. Each keeps the first event's time of its
 * key, and thus its place in a list.
 */
export async function findByKeys(
  trx: Reading,
  organization: string,
  keys: readonly ExecutionKey[],
): Promise<ExecutionRow[]> {
  if (keys.length === 0) return [];
  const old = keys.some((key) => mayBeCold(key.first_event_at.getTime()));
  const rowsOfKeys = sql`
    (select * from unnest(
      ${keys.map((key) => key.automation_id)}::uuid[],
      ${keys.map((key) => key.execution_id)}::text[],
      ${keys.map((key) => key.first_event_at.toISOString())}::timestamptz[]
    ) with ordinality as keys (automation_id, execution_id, first_event_at, number))
  `;
  const { rows } = await sql<ExecutionRow>`
    select ${shownColumns(organization)} from ${withOtherColumns(rowsOfKeys, organization, { old })} order by number
  `.execute(trx);
  return rows;
}
