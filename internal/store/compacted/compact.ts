import { randomBytes } from 'node:crypto';
import { sql, type RawBuilder, type Transaction } from 'kysely';
import type { Database, Tables } from '../database.ts';
import { isOnMove } from '../organizations/here.ts';
import { withMaintenanceLock } from '../partitions/with-maintenance-lock.ts';
import { expandBlocks } from './expand.ts';
import { keyOf, longestBlockDays } from './expanded.ts';

/** How many executions stay rows, and how many make a block. */
export interface CompactionSizes {
  /** The newest ones of each automation: more than any verdict or list of newest runs reads. */
  newest: number;
  /** One without a later neighbor has as many; any other one up to twice as many. */
  block: number;
}

export const defaultSizes: CompactionSizes = { newest: 2_500, block: 128 };

/** Between the times of an execution: they must fit into 32 bits of ms. Longer ones stay rows. */
const longest = sql.raw(`interval '20 days'`);

/** Blocks of one transaction, and automations of one query. */
const [blocksAtOnce, automationsAtOnce] = [20, 200];

/** How long a run takes at most, in ms: the next one goes on. */
const patienceMs = 20 * 60_000;

/**
 * Moves old executions into blocks: those whose events were all accepted before a time (ms since
 * the Unix epoch). What changes meanwhile stays as it is. Ends early when an organization begins to
 * move.
 */
export async function compactBefore(db: Database, time: number, sizes = defaultSizes): Promise<void> {
  const before = new Date(time);
  const end = performance.now() + patienceMs;
  for await (const automation of automationsToCompact(db, before, sizes)) {
    const old = { ...automation, before };
    let from: Date | undefined = new Date(0);
    while (from !== undefined) {
      if (performance.now() > end) return;
      const begin: Date = from;
      const next = await withMaintenanceLock(db, async (trx) =>
        (await isOnMove(trx)) ? 'on a move' : compactSome(trx, old, begin, sizes),
      );
      if (next === 'on a move') return;
      from = next;
    }
  }
}

interface CompactedAutomation {
  organization: string;
  automation_id: string;
  /** The first event of the oldest execution that stays a row for its automation. */
  until: Date;
}

/** The automations with more executions than stay rows, and with old ones. */
async function* automationsToCompact(
  db: Database,
  before: Date,
  { newest }: CompactionSizes,
): AsyncGenerator<CompactedAutomation> {
  let last: { organization: string; automation_id: string } | undefined;
  for (;;) {
    const after: RawBuilder<unknown> =
      last === undefined
        ? sql``
        : sql`where (organization, automation_id) > (${last.organization}, ${last.automation_id}::uuid)`;
    const { rows } = await sql<{ organization: string; automation_id: string; until: Date | null }>`
      with recursive automations as (
        (select organization, automation_id, 1 as number from executions ${after}
          order by organization, automation_id limit 1)
        union all
        select next.organization, next.automation_id, a.number + 1 from automations a cross join lateral (
          select e.organization, e.automation_id from executions e
          where (e.organization, e.automation_id) > (a.organization, a.automation_id)
          order by e.organization, e.automation_id limit 1
        ) as next
        where a.number < ${automationsAtOnce}::integer
      )
      select organization, automation_id, (
        select e.first_event_at from executions e
        where (e.organization, e.automation_id) = (automations.organization, automations.automation_id)
        order by e.first_event_at desc offset ${newest}::integer - 1 limit 1
      ) as until
      from automations order by organization, automation_id
    `.execute(db);
    for (const { until, ...automation } of rows) {
      if (until !== null) yield { ...automation, until: until < before ? until : before };
    }
    last = rows.at(-1);
    if (rows.length < automationsAtOnce) return;
  }
}

interface Old extends CompactedAutomation {
  before: Date;
}

/** Makes some blocks, from a time on. Resolves with the time to go on from, if any is left. */
async function compactSome(
  trx: Transaction<Tables>,
  old: Old,
  from: Date,
  sizes: CompactionSizes,
): Promise<Date | undefined> {
  let next: Date | undefined = from;
  for (let made = 0; made < blocksAtOnce && next !== undefined; made += 1) {
    next = await compactNext(trx, old, next, sizes);
  }
  return next;
}

async function compactNext(
  trx: Transaction<Tables>,
  old: Old,
  from: Date,
  { block }: CompactionSizes,
): Promise<Date | undefined> {
  const [first] = await candidates(trx, old, { from, most: 1 });
  if (first === undefined) return undefined;
  // Blocks of an automation never overlap.
  const { around, next } = await neighbors(trx, old, first.first_event_at);
  if (around !== undefined) await expandBlocks(trx, sql`organization = ${old.organization} and id = ${around.id}`);
  const begin = around === undefined ? first.first_event_at : around.oldest;
  const end = after(begin, longestBlockDays * 24 * 3_600_000);
  const before = next !== undefined && next < end ? next : end;
  const found = await candidates(trx, old, { from: begin, before, most: mostTied * block + 1 });
  const rows = found.slice(0, endOfBlock(found, next === undefined ? block : 2 * block, mostTied * block));
  // So many began at the same time that they stay rows.
  if (rows.length === 0) return after(begin, 1);
  if (rows.length >= block || next !== undefined) await makeBlock(trx, old, rows);
  return after(rows.at(-1)?.first_event_at ?? begin, 1);
}

function after(time: Date, ms: number): Date {
  return new Date(time.getTime() + ms);
}

/** A block is at most so many times as large if executions began at the same time. */
const mostTied = 4;

/** Where a block of about this many ends: between two different times. 0 if that is too far. */
function endOfBlock(rows: readonly Candidate[], wanted: number, most: number): number {
  const isEnd = (at: number): boolean => rows[at]?.first_event_at.getTime() !== rows[at - 1]?.first_event_at.getTime();
  let end = Math.min(wanted, rows.length);
  while (!isEnd(end)) end += 1;
  if (end <= most) return end;
  end = wanted;
  while (!isEnd(end)) end -= 1;
  return end;
}

/** The block whose times include this one, and the first event of the block after it. */
async function neighbors(trx: Transaction<Tables>, { organization, automation_id }: Old, at: Date) {
  const { rows } = await sql<{ id: string; oldest: Date }>`
    select id::text, oldest from compacted_executions
    where organization = ${organization} and automation_id = ${automation_id}::uuid and newest >= ${at}
    order by newest limit 2
  `.execute(trx);
  const [one, other] = rows;
  return one !== undefined && one.oldest <= at ? { around: one, next: other?.oldest } : { next: one?.oldest };
}

interface Candidate {
  execution_id: string;
  first_event_at: Date;
}

/** Of rows `e`: they will hardly change. Those that an open alert names stay rows. */
function isOver({ before }: Old): RawBuilder<unknown> {
  return sql`
    state <> 'running' and last_event_at < ${before} and coalesce(last_accepted_at, last_event_at) < ${before}
    and last_event_at - first_event_at < ${longest}
    and coalesce(last_accepted_at, last_event_at) - last_event_at between -${longest} and ${longest}
    and not exists (
      select from alerts a where a.organization = e.organization and a.automation_id = e.automation_id
        and a.resolved_at is null
        and e.execution_id in (a.occurrence, a.facts ->> 'execution', a.facts ->> 'last_execution')
    )
  `;
}

/** The next executions that can be in a block. */
async function candidates(
  trx: Transaction<Tables>,
  old: Old,
  { from, before = old.until, most }: { from: Date; before?: Date; most: number },
): Promise<Candidate[]> {
  const { rows } = await sql<Candidate>`
    select execution_id, first_event_at from executions e
    where organization = ${old.organization} and automation_id = ${old.automation_id}::uuid
      and first_event_at >= ${from} and first_event_at < ${before < old.until ? before : old.until} and ${isOver(old)}
    order by first_event_at, execution_id limit ${most}
  `.execute(trx);
  return rows;
}

/** A duration in ms. */
const inMs = (duration: string): RawBuilder<unknown> =>
  sql.raw(`array_agg(round(date_part('epoch', ${duration}) * 1000)::integer)`);

const isUuid = sql.raw(`execution_id ~ '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$'`);

/** Those that have changed meanwhile stay rows: the statement waits for their writers. */
async function makeBlock(trx: Transaction<Tables>, old: Old, rows: readonly Candidate[]): Promise<void> {
  const { organization, automation_id } = old;
  const id = randomBytes(8).readBigInt64BE().toString();
  await sql`
    with gone as (
      delete from executions e
      where organization = ${organization} and automation_id = ${automation_id}::uuid
        and execution_id = any(${rows.map((row) => row.execution_id)}::text[]) and ${isOver(old)}
      returning *
    ),
    keys as (
      insert into compacted_keys (block, key, organization)
      select distinct ${id}::bigint, ${keyOf(sql`execution_id`)}, organization from gone
    )
    insert into compacted_executions
    select ${organization}, ${id}::bigint, ${automation_id}::uuid, min(first_event_at), max(first_event_at),
      max(greatest(last_event_at, last_accepted_at)), count(*), count(failed_at),
      count(*) filter (where start_missing or start_repeated or start_late or event_after_end),
      array_agg(case when ${isUuid} then execution_id::uuid end),
      case when not bool_and(${isUuid}) then array_agg(case when not ${isUuid} then execution_id end) end,
      ${inMs('first_event_at - oldest')}, ${inMs('last_event_at - first_event_at')},
      ${inMs('started_at - first_event_at')}, ${inMs('failed_at - first_event_at')},
      ${inMs('last_event_at - ended_at')}, ${inMs('last_accepted_at - last_event_at')},
      array_agg(start_count), array_agg(event_count), array_agg(warning_count), array_agg(error_count),
      array_agg(end_count)
    from (
      select *, min(first_event_at) over () as oldest from gone order by first_event_at, execution_id
    ) as ordered
    having count(*) > 0
  `.execute(trx);
}
