import { randomBytes } from 'node:crypto';
import { sql, type RawBuilder, type Transaction } from 'kysely';
import { advisoryLocks } from '../advisory-locks.ts';
import type { Database, Tables } from '../database.ts';
import { isOnMove } from '../organizations/here.ts';
import { withMaintenanceLock } from '../partitions/with-maintenance-lock.ts';
import { withTurn } from '../with-turn.ts';
import { expandBlocks } from './expand.ts';
import { isUuid, keyOf, longestBlockMs } from './expanded.ts';

/** How many executions stay rows, and how many make a block. */
export interface CompactionSizes {
  /** The newest ones of each automation: more than any verdict or list of newest runs reads. */
  newest: number;
  /**
   * The newest block of an automation has as many, or those of a week. One between others has from
   * one to twice as many, and four times as many if executions began at the same time.
   */
  block: number;
  /** How long a run takes at most, in ms; five minutes if absent. */
  patienceMs?: number;
}

export const defaultSizes: CompactionSizes = { newest: 2_500, block: 256 };

/** What a run did. */
export interface Compacted {
  /** How many executions it has moved into blocks. */
  executions: number;
  /** How far it came; undefined if another process compacts, or an organization moves. */
  progress: CompactionProgress | undefined;
}

/** How far compaction has come. */
export interface CompactionProgress {
  /** Of executions before this time, in ms since the Unix epoch. */
  before: number;
  /** False if the time was used up. */
  isDone: boolean;
  /** The automation to go on after; undefined for the first one. */
  after: AutomationKey | undefined;
}

interface AutomationKey {
  organization: string;
  automation_id: string;
}

/** Between the times of an execution: they must fit into 32 bits of ms. Longer ones stay rows. */
const longest = sql.raw(`interval '20 days'`);

/** A week of an automation is worth a block if it has this share of a whole one. */
const leastShare = 1 / 16;

/** Blocks of one transaction, and automations of one query. */
const [blocksAtOnce, automationsAtOnce] = [20, 200];

const defaultPatienceMs = 5 * 60_000;

/**
 * Moves old executions into blocks: those whose events were all accepted before a time (ms since
 * the Unix epoch). What changes meanwhile stays as it is. Ends early when an organization begins to
 * move, and does nothing while another process compacts.
 * @param after where an earlier run ended.
 */
export async function compactBefore(
  db: Database,
  time: number,
  sizes = defaultSizes,
  after?: AutomationKey,
): Promise<Compacted> {
  const run: Compacted = { executions: 0, progress: undefined };
  await withTurn(db, advisoryLocks.compaction, async () => {
    const end = performance.now() + (sizes.patienceMs ?? defaultPatienceMs);
    let last = after;
    for await (const automation of automationsToCompact(db, new Date(time), sizes, after)) {
      const done = await compactAutomation(db, { ...automation, before: new Date(time) }, sizes, end);
      if (done === 'an organization moves') return;
      run.executions += done.executions;
      run.progress = { before: time, isDone: false, after: last };
      if (done.next !== undefined) return;
      last = { organization: automation.organization, automation_id: automation.automation_id };
    }
    run.progress = { before: time, isDone: true, after: undefined };
  });
  return run;
}

/** Makes the blocks of an automation until `end`, on the clock of `performance.now`. */
async function compactAutomation(
  db: Database,
  old: Old,
  sizes: CompactionSizes,
  end: number,
): Promise<Done | 'an organization moves'> {
  const done: Done = { executions: 0, next: new Date(0) };
  do {
    const begin: Date = done.next ?? new Date(0);
    const step = await withMaintenanceLock(db, async (trx) =>
      (await isOnMove(trx)) ? undefined : compactSome(trx, old, begin, sizes),
    );
    if (step === undefined) return 'an organization moves';
    done.executions += step.executions;
    done.next = step.next;
  } while (done.next !== undefined && performance.now() < end);
  return done;
}

interface CompactedAutomation extends AutomationKey {
  /** The first event of the oldest execution that stays a row for its automation. */
  until: Date;
}

/** The automations with more executions than stay rows, and with old ones. */
async function* automationsToCompact(
  db: Database,
  before: Date,
  { newest }: CompactionSizes,
  first: AutomationKey | undefined,
): AsyncGenerator<CompactedAutomation> {
  let last = first;
  for (;;) {
    const after: RawBuilder<unknown> =
      last === undefined
        ? sql``
        : sql`where (organization, automation_id) > (${last.organization}, ${last.automation_id}::uuid)`;
    const { rows } = await sql<AutomationKey & { number: number; until: Date | null }>`
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
      select organization, automation_id, number, (
        select e.first_event_at from executions e
        where (e.organization, e.automation_id) = (automations.organization, automations.automation_id)
        order by e.first_event_at desc offset ${newest}::integer - 1 limit 1
      ) as until
      from automations where exists (
        select from executions e
        where (e.organization, e.automation_id) = (automations.organization, automations.automation_id)
          and e.first_event_at < ${before}
      ) or number = ${automationsAtOnce}::integer
      order by organization, automation_id
    `.execute(db);
    for (const { organization, automation_id, until } of rows) {
      if (until !== null) yield { organization, automation_id, until: until < before ? until : before };
    }
    last = rows.at(-1);
    if (last === undefined || rows.at(-1)?.number !== automationsAtOnce) return;
  }
}

interface Old extends CompactedAutomation {
  before: Date;
}

/** What a step did, and the time to go on from, if any is left. */
interface Done {
  executions: number;
  next: Date | undefined;
}

/** Makes some blocks, from a time on. */
async function compactSome(trx: Transaction<Tables>, old: Old, from: Date, sizes: CompactionSizes): Promise<Done> {
  const done: Done = { executions: 0, next: from };
  for (let made = 0; made < blocksAtOnce && done.next !== undefined; made += 1) {
    const begin: Date = done.next;
    const { executions, next } = await compactNext(trx, old, begin, { ...sizes, mayExpand: made === 0 });
    done.executions += executions;
    done.next = next;
    if (next === begin) break;
  }
  return done;
}

interface Step extends CompactionSizes {
  /**
   * Making rows of a block may wait for a worker. So a transaction does it first, before it has
   * made a block for which workers wait.
   */
  mayExpand: boolean;
}

/** Makes a block. Is to go on from the same time if that needs a transaction of its own. */
async function compactNext(trx: Transaction<Tables>, old: Old, from: Date, { block, mayExpand }: Step): Promise<Done> {
  const goOn = (next: Date | undefined, executions = 0): Done => ({ executions, next });
  const [first] = await candidates(trx, old, { from, most: 1 });
  if (first === undefined) return goOn(undefined);
  // Blocks of an automation never overlap.
  const { around, next } = await neighbors(trx, old, first);
  if (around !== undefined) {
    if (!mayExpand) return goOn(from);
    const which = sql`c.organization = ${old.organization} and c.id = ${around.id}::integer`;
    if ((await expandBlocks(trx, which, 'skip')) === 0) return goOn(after(around.newest, 1));
  }
  const begin = around === undefined ? first : around.oldest;
  const end = after(begin, longestBlockMs);
  const before = next !== undefined && next < end ? next : end;
  const found = await candidates(trx, old, { from: begin, before, most: mostTied * block + 1 });
  const times = found.slice(0, endOfBlock(found, next === undefined ? block : 2 * block, mostTied * block));
  const last = times.at(-1);
  // So many began at the same time that they stay rows.
  if (last === undefined) return goOn(after(begin, 1));
  // No later one would join it.
  const isWeek = before === end && end <= old.until && times.length >= block * leastShare;
  const isBlock = times.length >= block || next !== undefined || isWeek;
  return goOn(after(last, 1), isBlock ? await makeBlock(trx, old, { from: begin, to: last }) : 0);
}

function after(time: Date, ms: number): Date {
  return new Date(time.getTime() + ms);
}

/** A block is at most so many times as large if executions began at the same time. */
const mostTied = 4;

/** Where a block of about this many ends: between two different times. 0 if that is too far. */
function endOfBlock(times: readonly Date[], wanted: number, most: number): number {
  const isEnd = (at: number): boolean => times[at]?.getTime() !== times[at - 1]?.getTime();
  let end = Math.min(wanted, times.length);
  while (!isEnd(end)) end += 1;
  if (end <= most) return end;
  end = wanted;
  while (!isEnd(end)) end -= 1;
  return end;
}

/** The block whose times include this one, and the first event of the block after it. */
async function neighbors(trx: Transaction<Tables>, { organization, automation_id }: Old, at: Date) {
  const { rows } = await sql<{ id: number; oldest: Date; newest: Date }>`
    select id, oldest, newest from compacted_executions
    where organization = ${organization} and automation_id = ${automation_id}::uuid and newest >= ${at}
    order by newest limit 2
  `.execute(trx);
  const [one, other] = rows;
  return one !== undefined && one.oldest <= at ? { around: one, next: other?.oldest } : { next: one?.oldest };
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

/** The first events of the next executions that can be in a block. */
async function candidates(
  trx: Transaction<Tables>,
  old: Old,
  { from, before = old.until, most }: { from: Date; before?: Date; most: number },
): Promise<Date[]> {
  const { rows } = await sql<{ first_event_at: Date }>`
    select first_event_at from executions e
    where organization = ${old.organization} and automation_id = ${old.automation_id}::uuid
      and first_event_at >= ${from} and first_event_at < ${before < old.until ? before : old.until} and ${isOver(old)}
    order by first_event_at limit ${most}
  `.execute(trx);
  return rows.map((row) => row.first_event_at);
}

/** A random id that no block of an organization has. */
async function unusedId(trx: Transaction<Tables>, organization: string): Promise<number> {
  for (;;) {
    const id = randomBytes(4).readInt32BE();
    const used = trx.selectFrom('compacted_executions').select('id').where('organization', '=', organization);
    if ((await used.where('id', '=', id).executeTakeFirst()) === undefined) return id;
  }
}

/** A duration in ms. */
const inMs = (duration: string): RawBuilder<unknown> =>
  sql.raw(`array_agg(round(date_part('epoch', ${duration}) * 1000)::integer)`);

const isId = isUuid(sql`execution_id`);

/**
 * Of the executions that began in these times; resolves with their number. Those that somebody
 * changes just now stay rows: who waited for them could lock others out, or wait in a circle.
 */
async function makeBlock(trx: Transaction<Tables>, old: Old, { from, to }: { from: Date; to: Date }): Promise<number> {
  const { organization, automation_id } = old;
  const id = await unusedId(trx, organization);
  const { rows } = await sql<{ executions: number }>`
    with taken as materialized (
      select organization, automation_id, execution_id from executions e
      where organization = ${organization} and automation_id = ${automation_id}::uuid
        and first_event_at between ${from} and ${to} and ${isOver(old)}
      for update skip locked
    ),
    gone as (
      delete from executions e using taken t
      where e.organization = ${organization} and e.automation_id = ${automation_id}::uuid
        and e.execution_id = t.execution_id
      returning e.*
    ),
    keys as (
      insert into compacted_keys (block, key, organization)
      select distinct ${id}::integer, ${keyOf(sql`execution_id`)}, organization from gone
    )
    insert into compacted_executions
    select ${organization}, ${id}::integer, ${automation_id}::uuid, min(first_event_at), max(first_event_at),
      max(greatest(last_event_at, last_accepted_at)), count(*), count(failed_at),
      count(*) filter (where start_missing or start_repeated or start_late or event_after_end),
      array_agg(case when ${isId} then execution_id::uuid end),
      case when not bool_and(${isId}) then array_agg(case when not ${isId} then execution_id end) end,
      ${inMs('first_event_at - oldest')}, ${inMs('last_event_at - first_event_at')},
      ${inMs('started_at - first_event_at')}, ${inMs('failed_at - first_event_at')},
      ${inMs('last_event_at - ended_at')}, ${inMs('last_accepted_at - last_event_at')},
      array_agg(start_count), array_agg(event_count), array_agg(warning_count), array_agg(error_count),
      array_agg(end_count)
    from (
      select *, min(first_event_at) over () as oldest from gone order by first_event_at, execution_id
    ) as ordered
    having count(*) > 0
    returning executions
  `.execute(trx);
  return rows[0]?.executions ?? 0;
}
