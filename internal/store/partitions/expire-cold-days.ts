import { sql, type RawBuilder, type Transaction } from 'kysely';
import type { MacKey } from '../../ledger/mac.ts';
import { deleteBlocks, expandBlocks } from '../compacted/expand.ts';
import { expanded, longestBlock } from '../compacted/expanded.ts';
import type { Database, Tables } from '../database.ts';
import { closedHere } from '../organizations/here.ts';
import { isoDay } from './days.ts';
import { noteExpiryOf } from './retention-acts.ts';
import { withMaintenanceLock } from './with-maintenance-lock.ts';

/** Executions of one statement, so that row locks are short. */
const sliceSize = 1_000;

/** How many days before `oldest` (ms) only the archive has, and of them those from `asked` on. */
export async function countColdDays(db: Database, oldest: number, asked: number): Promise<number> {
  const since = Number.isFinite(asked) ? sql`and day >= ${isoDay(asked)}::date` : sql``;
  const { rows } = await sql<{ days: number }>`
    select count(distinct day)::integer as days from cold_days where day < ${isoDay(oldest)}::date ${since}
  `.execute(db);
  return rows[0]?.days ?? 0;
}

/**
 * Forgets the cold days before `oldest`, and deletes the executions whose last event came before,
 * compacted ones too. The objects stay in the archive. Each log gets an act that says so. The next
 * run finishes the work after a failure.
 */
export async function expireColdDays(db: Database, oldest: number, macKey: MacKey | undefined): Promise<void> {
  const before = sql`day < ${isoDay(oldest)}::date`;
  const { rows } = await sql<{ organization: string }>`
    select distinct organization from cold_days where ${before} order by organization
  `.execute(db);
  const gone = new Set(await closedHere(db));
  const cold = new Set(rows.map(({ organization }) => organization));
  for (const organization of new Set([...cold, ...(await organizationsWithBlocks(db, oldest))])) {
    while ((await withMaintenanceLock(db, (trx) => deleteEnded(trx, organization, oldest))) === sliceSize);
    await deleteEndedInBlocks(db, organization, oldest);
    if (!cold.has(organization)) continue;
    await withMaintenanceLock(db, async (trx) => {
      // What an organization left here when it moved is not its record.
      if (!gone.has(organization)) await noteExpiryOf(trx, macKey, [organization], oldest);
      await sql`delete from cold_days where organization = ${organization} and ${before}`.execute(trx);
    });
  }
}

/**
 * Deletes a slice of the executions whose last event was accepted before `oldest`, oldest first.
 */
async function deleteEnded(trx: Transaction<Tables>, organization: string, oldest: number): Promise<number> {
  const time = new Date(oldest);
  const { rows } = await sql<{ deleted: number }>`
    with slice as (
      select automation_id, execution_id from executions e
      where organization = ${organization} and first_event_at < ${time} and ${hasEnded(time)}
      order by first_event_at limit ${sliceSize}
    ),
    deleted as (
      delete from executions e using slice s
      where e.organization = ${organization} and (e.automation_id, e.execution_id) = (s.automation_id, s.execution_id)
        and ${hasEnded(time)}
      returning e.automation_id, e.execution_id
    ),
    no_longer_running as (
      delete from running_executions r using deleted d
      where r.organization = ${organization} and (r.automation_id, r.execution_id) = (d.automation_id, d.execution_id)
    )
    select count(*)::integer as deleted from slice
  `.execute(trx);
  return rows[0]?.deleted ?? 0;
}

/** Blocks of one transaction. */
const blocksAtOnce = 20;

/** The blocks `c` that may have an execution whose last event came before a time. */
function mayHaveEnded(time: Date): RawBuilder<unknown> {
  return sql`c.oldest < ${time} and c.newest < ${time}::timestamptz + ${longestBlock}`;
}

/** The organizations with such blocks: an index leads from each to the next. */
async function organizationsWithBlocks(db: Database, oldest: number): Promise<string[]> {
  const { rows } = await sql<{ organization: string }>`
    with recursive found as (
      (select organization from compacted_executions order by organization limit 1)
      union all
      select (
        select c.organization from compacted_executions c where c.organization > f.organization order by 1 limit 1
      ) from found f where f.organization is not null
    )
    select organization from found where exists (
      select from compacted_executions c
      where c.organization = found.organization and ${mayHaveEnded(new Date(oldest))}
    ) order by organization
  `.execute(db);
  return rows.map(({ organization }) => organization);
}

/**
 * Deletes the compacted executions whose last event was accepted before `oldest`. A block goes
 * whole if all of its executions do. Otherwise all become rows first, in the same transaction: no
 * compaction comes between.
 */
async function deleteEndedInBlocks(db: Database, organization: string, oldest: number): Promise<void> {
  let last: Block | undefined;
  do {
    const after = last;
    last = await withMaintenanceLock(db, (trx) => deleteEndedInSome(trx, organization, oldest, after));
  } while (last !== undefined);
}

interface Block {
  id: number;
  newest: Date;
}

/** Does so in a slice of blocks. Resolves with the last one; undefined at the end. */
async function deleteEndedInSome(
  trx: Transaction<Tables>,
  organization: string,
  oldest: number,
  after: Block | undefined,
): Promise<Block | undefined> {
  const time = new Date(oldest);
  const further = after === undefined ? sql`` : sql`and (c.newest, c.id) > (${after.newest}, ${after.id}::integer)`;
  const { rows } = await sql<Block>`
    select c.id, c.newest from compacted_executions c
    where c.organization = ${organization} and ${mayHaveEnded(time)} ${further}
    order by c.newest, c.id limit ${blocksAtOnce}
  `.execute(trx);
  if (rows.length === 0) return undefined;
  const slice = sql`c.organization = ${organization} and c.id = any(${rows.map(({ id }) => id)}::integer[])`;
  await deleteBlocks(trx, sql`${slice} and c.last_at < ${time}`);
  const executions = sql`(${expanded(sql`select c.*`)}) as e`;
  await expandBlocks(trx, sql`${slice} and exists (select from ${executions} where ${hasEnded(time)})`);
  while ((await deleteEnded(trx, organization, oldest)) === sliceSize);
  return rows.at(-1);
}

/** True of an execution `e` whose last event was accepted before a time. */
function hasEnded(time: Date): RawBuilder<unknown> {
  return sql`e.last_event_at < ${time} and coalesce(e.last_accepted_at, '-infinity') < ${time}`;
}
