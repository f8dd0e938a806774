import type { Database } from '../store/database.ts';
import { sql } from '../store/sql.ts';
import { automationsWith } from './automations-of.ts';
import { all, time, when, type Condition } from './conditions.ts';
import {
  executionColumns,
  executionKeyColumns,
  executionOf,
  newestExecutionFirst,
  positionOfExecution,
  runningExecutions,
  type Execution,
  type ExecutionKey,
  type ExecutionPosition,
  type ExecutionRow,
} from './execution.ts';
import { fillPage, type SearchOptions, type Slice } from './fill-page.ts';
import { findByKeys } from './find-by-keys.ts';
import type { ExecutionFilters } from './filters.ts';
import { matchEvents } from './match-events.ts';
import type { Page, PageRequest } from './page.ts';
import { readAs, type Reading } from './read-as.ts';

/** What an execution costs the budget when its events are read too, in rows. */
const costWithEvents = 6;

/**
 * Executions, newest first. An index leads to those of an automation, of a state, or with an
 * anomaly; the other filters are a search through slices.
 */
export function listExecutions(
  db: Database,
  organization: string,
  filters: ExecutionFilters,
  page: PageRequest<ExecutionPosition>,
  search: SearchOptions,
): Promise<Page<Execution, ExecutionPosition>> {
  let base: Condition[] | undefined;
  return fillPage({
    ...search,
    page,
    rowsPerMatch: rowsPerMatch(filters),
    rowCost: searchesEvents(filters) ? costWithEvents : 1,
    itemOf: executionOf,
    positionOf: positionOfExecution,
    readSlice: (after, size) =>
      readAs(db, organization, async (trx) => {
        base ??= await baseConditions(trx, organization, filters);
        const options: SliceOptions = { organization, base, filters, after, size };
        if (!searchesEvents(filters)) return readSlice<ExecutionRow>(trx, executionColumns, options);
        // Most of a slice does not match: only the keys of all of it leave Postgres.
        const { matches, next } = await readSlice<ExecutionKey>(trx, executionKeyColumns, options);
        const found = await matchEvents(trx, organization, matches, filters);
        return { matches: await findByKeys(trx, organization, found), next };
      }),
  });
}

/** True if the events of an execution decide whether it matches. */
function searchesEvents({ errorId, q }: ExecutionFilters): boolean {
  return errorId !== undefined || q !== undefined;
}

/** How many rows of a slice lead to a match, in a usual record. */
function rowsPerMatch({ state, anomaly, warning, errorId }: ExecutionFilters): number {
  if (warning === true) return 30;
  if (errorId !== undefined) return 6;
  return state === 'succeeded' || anomaly !== undefined ? 2 : 1;
}

/** Conditions that an index serves. */
async function baseConditions(trx: Reading, organization: string, filters: ExecutionFilters): Promise<Condition[]> {
  const { automationId, executionId, from, to } = filters;
  const automations =
    executionId === undefined || automationId !== undefined
      ? undefined
      : await automationsWith(trx, organization, executionId);
  return [
    sql`organization = ${organization}`,
    ...when(automationId, (id) => sql`automation_id = ${id}::uuid`),
    ...when(automations, (ids) => sql`automation_id = any(${ids}::uuid[])`),
    ...when(executionId, (id) => sql`execution_id = ${id}`),
    ...when(from, (from) => sql`first_event_at >= ${time(from)}`),
    ...when(to, (to) => sql`first_event_at < ${time(to)}`),
    ...partialIndexCondition(filters),
  ];
}

/** At most one: a second one would make the read of a slice unbounded. */
function partialIndexCondition({ state, anomaly, errorId }: ExecutionFilters): Condition[] {
  // They come from a table of their own.
  if (state === 'running') return [];
  // Not the state: an index on it would be written with each END.
  if (state === 'failed' || errorId !== undefined) return [sql`failed_at is not null`];
  return when(anomaly, () => sql`(start_missing or start_repeated or start_late or event_after_end)`);
}

/** Conditions on the rows of a slice. */
function rowConditions({ state, anomaly, warning }: ExecutionFilters): Condition[] {
  return [
    ...when(state, (state) => sql`state = ${state}`),
    ...when(anomaly, (anomaly) => sql.ref(anomaly)),
    ...(warning === true ? [sql`warning_count > 0`] : []),
  ];
}

interface SliceOptions {
  organization: string;
  base: Condition[];
  filters: ExecutionFilters;
  after: ExecutionPosition | undefined;
  size: number;
}

/** `columns` are those of `Row`. */
async function readSlice<Row extends ExecutionKey>(
  trx: Reading,
  columns: Condition,
  { organization, base, filters, after, size }: SliceOptions,
): Promise<Slice<Row, ExecutionPosition>> {
  const following = when(
    after,
    ({ firstEventAt, automationId, executionId }) =>
      sql`(first_event_at, automation_id, execution_id) < (${time(firstEventAt)}, ${automationId}::uuid, ${executionId})`,
  );
  const matches = all(rowConditions(filters));
  const source = filters.state === 'running' ? runningExecutions(organization) : sql`executions`;
  const { rows } = await sql<Row & { matches: boolean; number: number }>`
    with slice as materialized (
      select ${executionColumns} from ${source} where ${all([...base, ...following])}
      order by ${newestExecutionFirst} limit ${size}
    ),
    numbered as (select *, ${matches} as matches, (row_number() over ())::integer as number from slice)
    select ${columns}, matches, number from numbered where matches or number = ${size}::integer
  `.execute(trx);
  const last = rows.at(-1);
  return {
    matches: rows.filter((row) => row.matches),
    next: last?.number === size ? positionOfExecution(last) : undefined,
  };
}
