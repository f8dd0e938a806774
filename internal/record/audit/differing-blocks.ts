import { expanded, keyOf, namesIn } from '../../store/compacted/expanded.ts';
import { sql } from '../../store/sql.ts';
import type { Finding } from './finding.ts';
import type { Reading } from './read-database.ts';

/**
 * What is wrong with compacted executions, at most one finding of each kind: one that is also a
 * row, or in two blocks; a key that is missing or was added; a block whose row says something else
 * than its executions give.
 */
export async function differingBlocks(trx: Reading, organization: string): Promise<Finding[]> {
  return [
    ...(await repeatedExecution(trx, organization)),
    ...(await differingKey(trx, organization)),
    ...(await differingRow(trx, organization)),
  ];
}

const namesOf = (organization: string) =>
  namesIn(sql`select * from compacted_executions where organization = ${organization}`);

async function repeatedExecution(trx: Reading, organization: string): Promise<Finding[]> {
  const { rows } = await sql<{ automation_id: string; execution_id: string }>`
    select automation_id, execution_id from (
      select automation_id, execution_id from (${namesOf(organization)}) as names
      union all
      select automation_id, execution_id from executions where organization = ${organization}
        -- Spares those without a block.
        and (select exists (select from compacted_executions where organization = ${organization}))
    ) as every group by automation_id, execution_id having count(*) > 1
    order by automation_id, execution_id limit 1
  `.execute(trx);
  return rows.map(({ automation_id, execution_id }) => ({
    sentence: `Execution ${execution_id} of automation ${automation_id} is in the record twice: it was added.`,
  }));
}

/** Without its key an execution is found in lists only, and a late event would add it once more. */
async function differingKey(trx: Reading, organization: string): Promise<Finding[]> {
  const { rows } = await sql<{ block: string; automation_id: string | null; execution_id: string | null }>`
    with kept as (
      select block, ${keyOf(sql`execution_id`)} as key, min(automation_id::text) as automation_id,
        min(execution_id) as execution_id
      from (${namesOf(organization)}) as names group by 1, 2
    ),
    listed as (select block, key, true as is_listed from compacted_keys where organization = ${organization})
    select block::text, automation_id, execution_id from kept full join listed using (block, key)
    where execution_id is null or is_listed is null
    order by automation_id, execution_id, block limit 1
  `.execute(trx);
  return rows.map(({ block, automation_id, execution_id }) => ({
    sentence:
      execution_id === null
        ? `The keys of compacted executions name one in the block ${block} that is not there: they were changed.`
        : `The keys of compacted executions lack execution ${execution_id} of automation ${automation_id}: ` +
          'they were changed.',
  }));
}

/** Readers skip blocks by what their rows say. */
async function differingRow(trx: Reading, organization: string): Promise<Finding[]> {
  const { rows } = await sql<{ id: string; automation_id: string }>`
    select c.id::text, c.automation_id from compacted_executions c cross join lateral (
      select count(*) as executions,
        count(*) filter (where (
          execution_id, first_event_at, last_event_at, start_count, event_count, warning_count, error_count, end_count
        ) is not null) as whole,
        count(*) filter (where error_count > 0) as failures,
        count(*) filter (where start_missing or start_repeated or start_late or event_after_end) as anomalies,
        min(first_event_at) as oldest, max(first_event_at) as newest,
        max(greatest(last_event_at, last_accepted_at)) as last_at
      from (${expanded(sql`select c.*`)}) as e
    ) as given
    where c.organization = ${organization}
      and (c.executions, c.executions, c.failures, c.anomalies, c.oldest, c.newest, c.last_at) is distinct from
        (given.executions, given.whole, given.failures, given.anomalies, given.oldest, given.newest, given.last_at)
    order by c.id limit 1
  `.execute(trx);
  return rows.map(({ id, automation_id }) => ({
    sentence:
      `The block ${id} of automation ${automation_id} has other executions than its row says: ` +
      'the row was changed.',
  }));
}
