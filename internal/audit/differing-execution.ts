import { mostAhead } from '../event/occurred-at.ts';
import { sql } from '../store/sql.ts';
import type { Finding } from './finding.ts';
import type { Reading } from './read-database.ts';

/**
 * An execution that differs from its events: in counts, in the time of its first event, error or
 * end, or because one of both is missing. Looks at those that began after the first kept day.
 */
export async function differingExecution(
  trx: Reading,
  organization: string,
  since: number,
): Promise<Finding | undefined> {
  const { rows } = await sql<{ automation_id: string; execution_id: string }>`
    with counted as (
      select automation_id, execution_id,
        count(*) filter (where kind = 'START') as starts, count(*) filter (where kind = 'EVENT') as events,
        count(*) filter (where kind = 'WARNING') as warnings, count(*) filter (where kind = 'ERROR') as errors,
        count(*) filter (where kind = 'END') as ends, min(coalesce(occurred_at, created_at)) as first_at,
        min(coalesce(occurred_at, created_at)) filter (where kind = 'ERROR') as error_at,
        min(coalesce(occurred_at, created_at)) filter (where kind = 'END') as end_at
      from events where organization = ${organization} group by automation_id, execution_id
    ),
    present as (select * from executions where organization = ${organization})
    select automation_id, execution_id from counted c full join present e using (automation_id, execution_id)
    where (c.starts, c.events, c.warnings, c.errors, c.ends, c.first_at, c.error_at, c.end_at) is distinct from
        (e.start_count, e.event_count, e.warning_count, e.error_count, e.end_count, e.first_event_at, e.failed_at, e.ended_at)
      and coalesce(e.first_event_at, c.first_at) >= ${new Date(since + mostAhead)}
    order by automation_id, execution_id limit 1
  `.execute(trx);
  return rows.map(({ automation_id, execution_id }) => ({
    sentence: `Execution ${execution_id} of automation ${automation_id} has another outcome than its events give.`,
  }))[0];
}
