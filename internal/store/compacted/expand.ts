import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { AcceptedEvent } from '../../event/event.ts';
import { textArray, uuidArray } from '../array-parameters.ts';
import type { Tables } from '../database.ts';
import { executionColumns } from '../record-events-statement.ts';
import { searchByKey } from '../search-by-key.ts';
import { blocksWith, expanded, keyOf } from './expanded.ts';

/** Makes all executions of the blocks `c` for which the condition holds rows of `executions` again. */
export async function expandBlocks(trx: Kysely<Tables>, which: RawBuilder<unknown>): Promise<void> {
  await searchByKey.execute(trx);
  await sql`
    with gone as (delete from compacted_executions c where ${which} returning c.*),
    forgotten as (
      delete from compacted_keys k using (
        select gone.organization, gone.id, ${keyOf(sql`coalesce(u.name, u.id::text)`)} as key
        from gone cross join lateral unnest(gone.ids, gone.names) as u (id, name)
      ) as g
      where (k.organization, k.key, k.block) = (g.organization, g.key, g.id)
    )
    insert into executions (${executionColumns})
    select ${executionColumns} from (${expanded(sql`select * from gone`)}) as rows
  `.execute(trx);
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
