import { defaultSizes } from '../store/compacted/compact.ts';
import { expanded, longestBlockDays } from '../store/compacted/expanded.ts';
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

/** Stands beside each row of a slice, and alone if there is none. */
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
  // In this order Postgres takes one entry of an index; it would read the table for `exists`.
  return sql`reach as (
    select coalesce((
      select newest from compacted_executions
      where ${all(ofBlocks(options))} and oldest <= ${to} and ${endsSoonAfter(to)} order by newest desc limit 1
    ) >= (
      select case when count(*) < ${size} then '-infinity' else min(first_event_at) end from slice
    ), false) as is_older
  )`;
}

/** No block that began before this time ends later. */
function endsSoonAfter(time: Condition): Condition {
  return sql`newest < ${time} + ${sql.lit(longestBlockDays)} * interval '1 day'`;
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

/**
 * Reads a slice in which compacted executions may be. It ends at the newest execution of a block
 * that it does not open, so it may have fewer rows than its size.
 */
async function readSliceWithCompacted<Row extends ExecutionKey>(
  trx: Reading,
  columns: Condition,
  options: SliceOptions,
): Promise<Slice<Row, ExecutionPosition>> {
  const { base, after, size } = options;
  const to = timeBefore(options);
  const opened = Math.ceil(size / defaultSizes.block);
  const isHere = sql`first_event_at > (select at from floor)`;
  const { rows } = await sql<Row & Numbered & { floor: Date | null }>`
    with floor as materialized (
      select case when count(*) > ${opened} then min(newest) else '-infinity' end as at from (
        select distinct newest from compacted_executions where ${all(ofBlocks(options))} and newest < ${to}
        order by newest desc limit ${opened + 1}
      ) as blocks
    ),
    opened as (
      select * from compacted_executions where ${all(ofBlocks(options))} and oldest <= ${to}
        and ${endsSoonAfter(to)} and newest > (select at from floor)
    ),
    slice as materialized (
      select ${executionColumns} from (
        (select ${executionColumns} from executions where ${all([...base, ...following(after)])} and ${isHere}
          order by ${newestExecutionFirst} limit ${size})
        union all
        select ${executionColumns} from (${expanded(sql`select * from opened`)}) as compacted
        where ${all([...base, ...following(after)])} and ${isHere}
      ) as both_of_them
      order by ${newestExecutionFirst} limit ${size}
    ),
    ${numbered(options)}
    select ${columns}, matches, number, nullif(floor.at, '-infinity') as floor
    from floor left join (select * from numbered where matches or number = ${size}::integer) as r on true
    order by number
  `.execute(trx);
  const slice = sliceOf(rows, options);
  const floor = rows[0]?.floor ?? undefined;
  return { ...slice, next: slice.next ?? (floor && positionAfter(floor)) };
}

/** The position after all executions that began later than this time: a ms is the shortest time. */
function positionAfter(time: Date): ExecutionPosition {
  return { firstEventAt: new Date(time.getTime() + 1).toISOString(), automationId: smallestId, executionId: ' ' };
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
