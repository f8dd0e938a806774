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

/** Selects the executions of a slice. */
export interface SliceOptions {
  organization: string;
  /** Conditions that an index serves. */
  base: Condition[];
  filters: ExecutionFilters;
  after: ExecutionPosition | undefined;
  size: number;
}

/** A row of a slice: it matches, or the slice ends with it. */
export interface Numbered {
  matches: boolean;
  /** From 1 on. */
  number: number;
}

/** Reads a slice in one query. `columns` are those of `Row`. */
export async function readSlice<Row extends ExecutionKey>(
  trx: Reading,
  columns: Condition,
  options: SliceOptions,
): Promise<Slice<Row, ExecutionPosition>> {
  const { rows } = await sql<Row & Numbered>`
    with slice as materialized (${rowsOfSlice(options)}),
    numbered as (select *, ${rowsThatMatch(options.filters)} as matches, (row_number() over ())::integer as number from slice)
    select ${columns}, matches, number from numbered as r where matches or number = ${options.size}::integer
  `.execute(trx);
  return sliceOf(rows, options);
}

/** The rows of a slice, with all columns of executions, in their order. */
export function rowsOfSlice({ organization, base, filters, after, size }: SliceOptions): Condition {
  const following = when(
    after,
    ({ firstEventAt, automationId, executionId }) =>
      sql`(first_event_at, automation_id, execution_id) < (${time(firstEventAt)}, ${automationId}::uuid, ${executionId})`,
  );
  const { state } = filters;
  const isOpen = state === 'running' || state === 'lost';
  const source = isOpen ? runningExecutions(organization, state === 'lost') : sql`executions`;
  return sql`
    select ${executionColumns} from ${source} where ${all([...base, ...following])}
    order by ${newestExecutionFirst} limit ${size}
  `;
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
    matches: rows.filter((row) => row.matches),
    next: last?.number === size ? positionOfExecution(last) : undefined,
  };
}
