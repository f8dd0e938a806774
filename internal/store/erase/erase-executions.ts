import { sql, type RawBuilder, type Transaction } from 'kysely';
import { deleteBlocks, expandBlocks, expandExecutions } from '../compacted/expand.ts';
import { keyOf, namesIn } from '../compacted/expanded.ts';
import type { Database, Tables } from '../database.ts';
import type { ErasureScope } from './erasure-scope.ts';
import type { EventRow } from '../tables/events-table.ts';
import { waitForMaintenance } from '../partitions/with-maintenance-lock.ts';
import { executionColumns, outcome, timesOfEvent } from '../record-events-statement.ts';

type Trx = Transaction<Tables>;
type ExecutionKey = Pick<EventRow, 'automation_id' | 'execution_id'>;

/**
 * Recomputes the executions of erased events from their other events, and deletes those without
 * any; compacted ones become rows first. Runs in the transaction that erased the events, while no
 * compaction runs. A worker that stores an event of them waits for its end; or this waits for the
 * worker, and counts its event.
 */
export async function recomputeExecutions(
  trx: Trx,
  organization: string,
  erased: readonly ExecutionKey[],
): Promise<void> {
  const counts = new Map<string, number>();
  for (const event of erased) counts.set(textOf(event), (counts.get(textOf(event)) ?? 0) + 1);
  const touched = [...new Map(erased.map((event) => [textOf(event), event])).values()];
  await expandExecutions(
    trx,
    touched.map((one) => ({ organization, automationId: one.automation_id, executionId: one.execution_id })),
  );
  const locked = await lockExecutions(trx, among(organization, touched));
  await deleteExecutions(trx, organization, locked);
  // Searching for other events of every execution would read the whole table.
  const others = locked.filter((execution) => counts.get(textOf(execution)) !== execution.events);
  if (others.length === 0) return;
  await sql`
    with computed as (
      insert into executions (${executionColumns})
      select ${outcome} from (
        select organization, automation_id, execution_id, kind, ${timesOfEvent}
        from events where ${among(organization, others)}
      ) as unerased
      group by organization, automation_id, execution_id
      returning organization, automation_id, execution_id, first_event_at, state
    )
    insert into running_executions (organization, automation_id, execution_id, first_event_at)
    select organization, automation_id, execution_id, first_event_at from computed where state = 'running'
  `.execute(trx);
}

async function deleteExecutions(trx: Trx, organization: string, executions: readonly ExecutionKey[]): Promise<void> {
  for (const table of ['running_executions', 'executions']) {
    await sql`delete from ${sql.table(table)} where ${among(organization, executions)}`.execute(trx);
  }
}

/** The rows of these executions. */
function among(organization: string, executions: readonly ExecutionKey[]): RawBuilder<unknown> {
  return sql`organization = ${organization} and (automation_id, execution_id) in (
    select * from unnest(
      ${executions.map(({ automation_id }) => automation_id)}::uuid[],
      ${executions.map(({ execution_id }) => execution_id)}::text[]
    )
  )`;
}

function textOf({ automation_id, execution_id }: ExecutionKey): string {
  return `${automation_id} ${execution_id}`;
}

/** Blocks of one transaction. */
const blocksAtOnce = 20;

/**
 * Leaves no block that may have an execution of a scope. Those without an event in Postgres go
 * whole; of others all executions become rows. A few at a time, since there may be very many.
 */
export async function eraseBlocks(db: Database, scope: ErasureScope): Promise<void> {
  let last: number | undefined;
  do {
    const after = last;
    last = await db.transaction().execute((trx) => eraseSomeBlocks(trx, scope, after));
  } while (last !== undefined);
}

/** Resolves with the last block; undefined at the end. */
async function eraseSomeBlocks(trx: Trx, scope: ErasureScope, after = -(2 ** 31)): Promise<number | undefined> {
  await waitForMaintenance(trx);
  const { rows } = await sql<{ id: number }>`
    select c.id from compacted_executions c where ${chosenBlocks(scope)} and c.id > ${after}::integer
    order by c.id limit ${blocksAtOnce}
  `.execute(trx);
  if (rows.length === 0) return undefined;
  const some = sql`c.organization = ${scope.organization} and c.id = any(${rows.map(({ id }) => id)}::integer[])`;
  // A block of one execution's scope has others, too.
  if (scope.executionId === undefined) {
    await deleteBlocks(
      trx,
      sql`${some} and not exists (
        select from (${namesIn(sql`select c.*`)}) as n join events v
          on (v.automation_id, v.execution_id, v.organization) = (n.automation_id, n.execution_id, n.organization)
      )`,
    );
  }
  await expandBlocks(trx, some);
  return rows.at(-1)?.id;
}

/**
 * Erases the rows of a scope's executions whose events are gone: retention may have dropped them.
 */
export async function eraseEmptyExecutions(trx: Trx, scope: ErasureScope): Promise<void> {
  await waitForMaintenance(trx);
  // Of a compaction that came meanwhile.
  await expandBlocks(trx, chosenBlocks(scope));
  const empty = sql`${chosenExecutions(scope)} and not exists (
    select from events v
    where (v.automation_id, v.execution_id, v.organization)
      = (executions.automation_id, executions.execution_id, executions.organization)
  )`;
  const locked = await lockExecutions(trx, empty);
  const { rows } = await sql<ExecutionKey>`
    select automation_id, execution_id from executions where ${among(scope.organization, locked)} and ${empty}
  `.execute(trx);
  await deleteExecutions(trx, scope.organization, rows);
}

/** An execution that is locked, with how many events it counts. */
type LockedExecution = ExecutionKey & { events: number };

/** Locks in the order of the workers. Later statements see what these have stored. */
async function lockExecutions(trx: Trx, which: RawBuilder<unknown>): Promise<LockedExecution[]> {
  const { rows } = await sql<LockedExecution>`
    select automation_id, execution_id, start_count + event_count + warning_count + error_count + end_count as events
    from executions where ${which} order by automation_id, execution_id, organization for update
  `.execute(trx);
  return rows;
}

/** The blocks `c` that may have an execution of a scope. */
function chosenBlocks({ organization, automationId, executionId }: ErasureScope): RawBuilder<unknown> {
  const own = sql`c.organization = ${organization}`;
  if (automationId === undefined) return own;
  const ofAutomation = sql`${own} and c.automation_id = ${automationId}::uuid`;
  if (executionId === undefined) return ofAutomation;
  return sql`${ofAutomation} and c.id in (
    select block from compacted_keys
    where organization = ${organization} and key = ${keyOf(sql`${executionId}::text`)}
  )`;
}

/** The query that counts the compacted executions of a scope. */
export function countCompacted(scope: ErasureScope): RawBuilder<unknown> {
  const blocks = sql`select c.* from compacted_executions c where ${chosenBlocks(scope)}`;
  const { executionId } = scope;
  return executionId === undefined
    ? sql`select coalesce(sum(executions), 0) from (${blocks}) as chosen`
    : sql`select count(*) from (${namesIn(blocks)}) as names where execution_id = ${executionId}`;
}

/** The executions of a scope that are rows; `text` chooses none of them. */
export function chosenExecutions({ organization, automationId, executionId }: ErasureScope): RawBuilder<unknown> {
  return sql`organization = ${organization}
    ${automationId === undefined ? sql`` : sql`and automation_id = ${automationId}::uuid`}
    ${executionId === undefined ? sql`` : sql`and execution_id = ${executionId}`}`;
}
