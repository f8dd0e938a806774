import { defaultSizes } from '../store/compacted/compact.ts';
import { expanded, longestBlock } from '../store/compacted/expanded.ts';
import { sql } from '../store/sql.ts';
import { all, time, when, whenAnyOf, type Condition } from './conditions.ts';
import {
  executionColumns,
  newestExecutionFirst,
  positionOfExecution,
  runningExecutions,
  type ExecutionKey,
  type ExecutionPosition,
} from './execution.ts';
import type { Slice } from './fill-page.ts';
import type { ExecutionFilters } from './filters.ts';
import type { Reading } from './read-as.ts';
import { smallestId } from './windows.ts';

/** Selects the executions of a slice. */
export interface SliceOptions {
  organization: string;
  /** Conditions that an index serves. */
  base: Condition[];
  filters: ExecutionFilters;
  /** The executions with one id, if only these are wanted; otherwise the table `executions`. */
  source?: Condition | undefined;
  after: ExecutionPosition | undefined;
  size: number;
}

/** A row of a slice: it matches, or the slice ends with it. */
export interface Numbered {
  matches: boolean;
  /** From 1 on; null beside nothing. */
  number: number | null;
}

/**
 * Reads a slice; in one query if no compacted execution may be in it. `columns` are those of `Row`.
 */
export async function readSlice<Row extends ExecutionKey>(
  trx: Reading,
  columns: Condition,
  options: SliceOptions,
): Promise<Slice<Row, ExecutionPosition>> {
  const { rows } = await sql<Row & Numbered & Reach>`
    with slice as materialized (${rowsOfSlice(options)}), ${reachOf(options)}, ${numbered(options)}
    select ${columns}, matches, number, is_older
    from reach left join (select * from numbered where matches or number = ${options.size}::integer) as r on true
    order by number
  `.execute(trx);
  return rows[0]?.is_older === true ? readSliceWithCompacted(trx, columns, options) : sliceOf(rows, options);
}

/** The query of all rows of a slice, numbered. */
function numbered({ filters }: SliceOptions): Condition {
  return sql`numbered as (
    select *, ${rowsThatMatch(filters)} as matches, (row_number() over ())::integer as number from slice
  )`;
}

/** The rows of a slice, with all columns of executions, in their order. */
export function rowsOfSlice({ organization, base, filters, source, after, size }: SliceOptions): Condition {
  const { state } = filters;
  const isOpen = state === 'running' || state === 'lost';
  const table = isOpen ? runningExecutions(organization, state === 'lost') : (source ?? sql`executions`);
  return sql`
    select ${executionColumns} from ${table} where ${all([...base, ...following(after)])}
    order by ${newestExecutionFirst} limit ${size}
  `;
}

function following(after: ExecutionPosition | undefined): Condition[] {
  return when(
    after,
    ({ firstEventAt, automationId, executionId }) =>
      sql`(first_event_at, automation_id, execution_id) < (${time(firstEventAt)}, ${automationId}::uuid, ${executionId})`,
  );
}

/** A column of each row of a slice; a slice without rows has one row of nulls with it. */
export interface Reach {
  /** True if compacted executions may belong into the slice. */
  is_older: boolean;
}

/** The query of {@link Reach}, of the rows `slice`. */
export function reachOf(options: SliceOptions): Condition {
  const { filters, source, size } = options;
  const isOfRows = source !== undefined || filters.state === 'running' || filters.state === 'lost';
  if (isOfRows) return sql`reach as (select false as is_older)`;
  const to = timeBefore(options);
  // For `exists` Postgres would read the table; for the newest it takes one entry of an index.
  return sql`reach as (
    select coalesce((
      select newest from compacted_executions
      where ${all(ofBlocks(options))} and oldest <= ${to} and ${endsSoonAfter(to)} order by newest desc limit 1
    ) >= (
      select case when count(*) < ${size} then '-infinity' else min(first_event_at) end from slice
    ), false) as is_older
  )`;
}

/** Of a block around a time: its last execution began no later than this. */
function endsSoonAfter(time: Condition): Condition {
  return sql`newest < ${time} + ${longestBlock}`;
}

/** The conditions on blocks that may have an execution of a list. */
function ofBlocks({ organization, filters }: SliceOptions): Condition[] {
  const { automationId, state, anomaly, errorId } = filters;
  return [
    sql`organization = ${organization}`,
    ...when(automationId, (id) => sql`automation_id = ${id}::uuid`),
    ...whenAnyOf(filters.automationIds),
    ...(state === 'failed' || errorId !== undefined ? [sql`failures > 0`] : []),
    ...when(anomaly, () => sql`anomalies > 0`),
    ...when(filters.from, (from) => sql`newest >= ${time(from)}`),
  ];
}

/** No execution of a slice began after this. */
function timeBefore({ after, filters }: SliceOptions): Condition {
  const to = after?.firstEventAt ?? filters.to;
  return to === undefined ? sql`'infinity'::timestamptz` : time(to);
}

/** Blocks around the position of a slice that it opens at most. */
const mostAround = 256;

/** Where a slice ends: after the executions of later times, and of greater ids at this time. */
interface Floor {
  floor_at: Date | null;
  floor_automation: string;
}

/**
 * Reads a slice in which compacted executions may be. Of the blocks around its position, it opens
 * those that have an execution soon before; of those that end before, the newest. It ends where a
 * block that it does not open may have the next one, so it may have fewer rows than its size.
 */
async function readSliceWithCompacted<Row extends ExecutionKey>(
  trx: Reading,
  columns: Condition,
  options: SliceOptions,
): Promise<Slice<Row, ExecutionPosition>> {
  const { base, after, size } = options;
  const ofList = all(ofBlocks(options));
  const to = timeBefore(options);
  const [most, opened] = [Math.min(size, mostAround), Math.ceil(size / defaultSizes.block)];
  const isHere = sql`first_event_at >= (select floor_at from floor)
    and (first_event_at, automation_id) > (select floor_at, floor_automation from floor)`;
  const wanted = all([...base, ...following(after), isHere]);
  const { rows } = await sql<Row & Numbered & Floor>`
    with around as materialized (
      select * from (
        select id, automation_id, ${lastStart(to, after)} as start from compacted_executions
        where ${ofList} and oldest <= ${to} and newest >= ${to} and ${endsSoonAfter(to)}
      ) as blocks
      where start is not null order by start desc, automation_id desc limit ${most + 1}
    ),
    floor as materialized (
      select * from (
        select '-infinity'::timestamptz as floor_at, ${smallestId}::uuid as floor_automation
        union all
        select min(newest), ${largestId}::uuid from (
          select distinct newest from compacted_executions where ${ofList} and newest < ${to}
          order by newest desc limit ${opened + 1}
        ) as earlier having count(*) > ${opened}
        union all
        (select start, automation_id from around order by start desc, automation_id desc offset ${most} limit 1)
      ) as floors
      order by floor_at desc, floor_automation desc limit 1
    ),
    opened as (
      select c.* from around cross join lateral (
        select * from compacted_executions c
        where c.organization = ${options.organization} and c.id = around.id offset 0
      ) as c
      union all
      select * from compacted_executions where ${ofList} and newest < ${to}
        and newest >= (select floor_at from floor)
        and (newest, automation_id) > (select floor_at, floor_automation from floor)
    ),
    slice as materialized (
      select ${executionColumns} from (
        (select ${executionColumns} from executions where ${wanted} order by ${newestExecutionFirst} limit ${size})
        union all
        select ${executionColumns} from (${expanded(sql`select * from opened`)}) as compacted where ${wanted}
      ) as both_of_them
      order by ${newestExecutionFirst} limit ${size}
    ),
    ${numbered(options)}
    select ${columns}, matches, number, nullif(floor_at, '-infinity') as floor_at, floor_automation
    from floor left join (select * from numbered where matches or number = ${size}::integer) as r on true
    order by number
  `.execute(trx);
  const slice = sliceOf(rows, options);
  const [first] = rows;
  if (slice.next !== undefined || first === undefined || first.floor_at === null) return slice;
  return { ...slice, next: positionAfter(first.floor_at, first.floor_automation) };
}

/** When the last execution of a block began before the position of a slice; null for none. */
function lastStart(to: Condition, after: ExecutionPosition | undefined): Condition {
  const mayBeThen = after === undefined ? sql`false` : sql`automation_id <= ${after.automationId}::uuid`;
  const sinceOldest = sql`floor(extract(epoch from ${to} - oldest) * 1000)::integer`;
  return sql`oldest + interval '1 ms' * first_after[
    width_bucket(${sinceOldest} - case when ${mayBeThen} then 0 else 1 end, first_after)
  ]`;
}

const largestId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/**
 * The position after all executions that began later than this, or then and of a greater
 * automation.
 */
function positionAfter(time: Date, automation: string): ExecutionPosition {
  // Smaller than all ids that a caller can send.
  const executionId = '\u0001';
  if (automation !== largestId) {
    return { firstEventAt: time.toISOString(), automationId: idAfter(automation), executionId };
  }
  return { firstEventAt: new Date(time.getTime() + 1).toISOString(), automationId: smallestId, executionId };
}

function idAfter(id: string): string {
  const digits = (BigInt(`0x${id.replaceAll('-', '')}`) + 1n).toString(16).padStart(32, '0');
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** The conditions on the rows of a slice. */
export function rowsThatMatch({ state, anomaly, warning, automationIds }: ExecutionFilters): Condition {
  return all([
    ...when(state, (state) => sql`state = ${state === 'lost' ? 'running' : state}`),
    ...when(anomaly, (anomaly) => sql.ref(anomaly)),
    ...whenAnyOf(automationIds),
    ...(warning === true ? [sql`warning_count > 0`] : []),
  ]);
}

/** The slice of these rows; a full one includes the last row. */
export function sliceOf<Row extends ExecutionKey & Numbered>(
  rows: Row[],
  { size }: SliceOptions,
): Slice<Row, ExecutionPosition> {
  const last = rows.at(-1);
  return {
    matches: rows.filter((row) => row.number !== null && row.matches),
    next: last?.number === size ? positionOfExecution(last) : undefined,
  };
}
