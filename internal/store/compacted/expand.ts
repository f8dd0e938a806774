import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { AcceptedEvent } from '../../event/event.ts';
import { textArray, uuidArray } from '../array-parameters.ts';
import type { Tables } from '../database.ts';
import { executionColumns } from '../record-events-statement.ts';
import { searchByKey } from '../search-by-key.ts';
import { blocksWith, expanded, keyOf, namesIn } from './expanded.ts';

/** Deletes the blocks `c` for which the condition holds, with their executions. */
export async function deleteBlocks(trx: Kysely<Tables>, which: RawBuilder<unknown>): Promise<void> {
  await searchByKey.execute(trx);
  await sql`with ${goneWith(which)} select from gone`.execute(trx);
}

/** Makes the executions of the blocks `c` for which the condition holds rows of `executions`. */
export async function expandBlocks(trx: Kysely<Tables>, which: RawBuilder<unknown>): Promise<void> {
  await searchByKey.execute(trx);
  await sql`
    with ${goneWith(which)}
    insert into executions (${executionColumns})
    select ${executionColumns} from (${expanded(sql`select * from gone`)}) as rows
  `.execute(trx);
}

/** Of a statement: `gone` are the blocks that it deletes, together with their keys. */
function goneWith(which: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    gone as (delete from compacted_executions c where ${which} returning c.*),
    forgotten as (
      delete from compacted_keys k using (
        select organization, block, ${keyOf(sql`execution_id`)} as key
        from (${namesIn(sql`select * from gone`)}) as names
      ) as g
      where (k.organization, k.key, k.block) = (g.organization, g.key, g.block)
    )
  `;
}

/** The key of an execution. */
export type ExpandedKey = Pick<AcceptedEvent, 'organization' | 'automationId' | 'executionId'>;

/** Does so with the blocks that may have one of these executions. */
export async function expandExecutions(trx: Kysely<Tables>, keys: readonly ExpandedKey[]): Promise<void> {
  if (keys.length === 0) return;
  const wanted = sql`unnest(
    ${textArray(keys.map(({ organization }) => organization))},
    ${uuidArray(keys.map(({ automationId }) => automationId))},
    ${textArray(keys.map(({ executionId }) => executionId))}
  ) as w (organization, automation_id, execution_id)`;
  const blocks = blocksWith({
    organization: sql`w.organization`,
    automationId: sql`w.automation_id`,
    executionId: sql`w.execution_id`,
  });
  await expandBlocks(
    trx,
    sql`(c.organization, c.id) in (
      select distinct found.organization, found.id from ${wanted} cross join lateral (${blocks}) as found
    )`,
  );
}
