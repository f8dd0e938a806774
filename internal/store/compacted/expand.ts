import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { AcceptedEvent } from '../../event/event.ts';
import { textArray, uuidArray } from '../array-parameters.ts';
import type { Database, Tables } from '../database.ts';
import { executionColumns } from '../record-events-statement.ts';
import { planAsUsual, searchByKey } from '../search-by-key.ts';
import { blocksWith, expanded, hasExecution, keyOf, namesIn } from './expanded.ts';

/** What to do with a block that another transaction has locked. */
export type IfLocked = 'wait' | 'skip';

/** Deletes the blocks `c` for which the condition holds, with their executions. */
export async function deleteBlocks(trx: Kysely<Tables>, which: RawBuilder<unknown>): Promise<void> {
  await searchByKey.execute(trx);
  await sql`with ${goneWith(which, 'wait')} select from gone`.execute(trx);
  await planAsUsual.execute(trx);
}

/**
 * Makes the executions of the blocks `c` for which the condition holds rows of `executions`.
 * Resolves with the number of blocks. Locks them, and then rows, in the order of keys, as all
 * writers do.
 */
export async function expandBlocks(
  trx: Kysely<Tables>,
  which: RawBuilder<unknown>,
  ifLocked: IfLocked = 'wait',
): Promise<number> {
  await searchByKey.execute(trx);
  const { rows } = await sql<{ blocks: number }>`
    with ${goneWith(which, ifLocked)},
    made as (
      insert into executions (${executionColumns})
      select ${executionColumns} from (${expanded(sql`select * from gone`)}) as rows
      order by automation_id, execution_id, organization
      -- Somebody may have added such a row: \`verify\` tells.
      on conflict do nothing
    )
    select count(*)::integer as blocks from gone
  `.execute(trx);
  await planAsUsual.execute(trx);
  return rows[0]?.blocks ?? 0;
}

/** Of a statement: `gone` are the blocks that it deletes, together with their keys. */
function goneWith(which: RawBuilder<unknown>, ifLocked: IfLocked): RawBuilder<unknown> {
  return sql`
    locked as materialized (
      select c.organization, c.id from compacted_executions c where ${which}
      order by c.organization, c.id for update ${ifLocked === 'skip' ? sql`skip locked` : sql``}
    ),
    gone as (
      delete from compacted_executions c using locked
      where (c.organization, c.id) = (locked.organization, locked.id)
      returning c.*
    ),
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

/** Does so with the blocks that have one of these executions. */
export async function expandExecutions(trx: Kysely<Tables>, keys: readonly ExpandedKey[]): Promise<void> {
  if (keys.length === 0) return;
  await expandBlocks(trx, sql`(c.organization, c.id) in (${blocksOf(keys)})`);
}

/** Blocks of one transaction: however many there are, no statement takes long. */
const blocksAtOnce = 20;

/**
 * Does so in transactions of their own, each with a few blocks: a batch of late events may need
 * thousands, and one that is killed or takes too long must not begin at nothing again.
 */
export async function expandInSteps(db: Database, keys: readonly ExpandedKey[]): Promise<void> {
  const blocks = await db.transaction().execute(async (trx) => {
    await searchByKey.execute(trx);
    const { rows } = await sql<{ organization: string; id: number }>`
      select organization, id from (${blocksOf(keys)}) as blocks order by organization, blocks.id
    `.execute(trx);
    return rows;
  });
  for (let first = 0; first < blocks.length; first += blocksAtOnce) {
    const some = blocks.slice(first, first + blocksAtOnce);
    const which = sql`(c.organization, c.id) in (
      select * from unnest(${some.map(({ organization }) => organization)}::text[], ${some.map(({ id }) => id)}::integer[])
    )`;
    await db.transaction().execute((trx) => expandBlocks(trx, which));
  }
}

/** The query of the blocks that have one of these executions. */
function blocksOf(keys: readonly ExpandedKey[]): RawBuilder<unknown> {
  const blocks = blocksWith({
    organization: sql`w.organization`,
    automationId: sql`w.automation_id`,
    executionId: sql`w.execution_id`,
  });
  return sql`
    select distinct found.organization, found.id
    from unnest(
      ${textArray(keys.map(({ organization }) => organization))},
      ${uuidArray(keys.map(({ automationId }) => automationId))},
      ${textArray(keys.map(({ executionId }) => executionId))}
    ) as w (organization, automation_id, execution_id)
    cross join lateral (${blocks}) as found
    where ${hasExecution(sql`found`, sql`w.execution_id`)}
  `;
}
