import type { Database } from '../store/database.ts';
import { sql } from '../store/sql.ts';
import { automationsWith } from './automations-of.ts';
import { time, when, type Condition } from './conditions.ts';
import {
  executionKeyColumns,
  executionOf,
  positionOfExecution,
  shownColumns,
  type Execution,
  type ExecutionKey,
  type ExecutionPosition,
  type ExecutionRow,
} from './execution.ts';
import { fillPage, type SearchOptions, type Slice } from './fill-page.ts';
import { findByKeys } from './find-by-keys.ts';
import type { ExecutionFilters } from './filters.ts';
import { matchError, matchText } from './match-events.ts';
import { hasColdSince } from './over-events.ts';
import type { Page, PageRequest } from './page.ts';
import { readAs } from './read-as.ts';
import { readSlice, type SliceOptions } from './slice-of-executions.ts';
import { readSliceWithError } from './slice-with-error.ts';

/** What an execution costs the budget, in rows, when its events are read too. */
const costWithEvents = 6;

/**
 * Executions, newest first. An index finds those of an automation, of a state, or with an anomaly;
 * the other filters search through slices.
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
    readSlice: async (after, size) => {
      base ??= await baseConditions(db, organization, filters);
      const options: SliceOptions = { organization, base, filters, after, size };
      return searchesEvents(filters)
        ? searchSlice(db, options)
        : readAs(db, organization, (trx) => readSlice<ExecutionRow>(trx, shownColumns(organization), options));
    },
  });
}

/** A slice of the executions whose events have the wanted `error_id` and text. */
async function searchSlice(db: Database, options: SliceOptions): Promise<Slice<ExecutionRow, ExecutionPosition>> {
  const { organization, filters } = options;
  const { errorId, q } = filters;
  const matching = <Row extends ExecutionKey>(rows: Row[]): Row[] | Promise<Row[]> =>
    q === undefined ? rows : matchText(db, organization, rows, q);
  const short =
    errorId === undefined
      ? undefined
      : await readAs(db, organization, (trx) => readSliceWithError(trx, errorId, options));
  // That query reads Postgres only.
  const isCold = short?.begin !== undefined && (await hasColdSince(db, organization, short.begin));
  if (short !== undefined && !isCold) return { next: short.next, matches: await matching(short.matches) };
  // Most of a slice does not match, so only its keys leave Postgres.
  const { matches, next } = await readAs(db, organization, (trx) =>
    readSlice<ExecutionKey>(trx, executionKeyColumns, options),
  );
  const failed = errorId === undefined ? matches : await matchError(db, organization, matches, errorId);
  const found = await matching(failed);
  return { matches: await readAs(db, organization, (trx) => findByKeys(trx, organization, found)), next };
}

/** True if the events of an execution decide whether it matches. */
function searchesEvents({ errorId, q }: ExecutionFilters): boolean {
  return errorId !== undefined || q !== undefined;
}

/** How many rows of a slice yield a match in a usual record. */
function rowsPerMatch({ state, anomaly, warning, errorId, automationIds }: ExecutionFilters): number {
  if (warning === true) return 30;
  if (errorId !== undefined || automationIds !== undefined) return 6;
  return state === 'succeeded' || anomaly !== undefined ? 2 : 1;
}

/** Conditions that an index serves. */
async function baseConditions(db: Database, organization: string, filters: ExecutionFilters): Promise<Condition[]> {
  const { automationId, executionId, from, to } = filters;
  const automations =
    executionId === undefined || automationId !== undefined
      ? undefined
      : await readAs(db, organization, (trx) => automationsWith(trx, organization, executionId));
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

/** Returns at most one condition: a second one would make the read of a slice unbounded. */
function partialIndexCondition({ state, anomaly, errorId }: ExecutionFilters): Condition[] {
  // These come from a separate table.
  if (state === 'running' || state === 'lost') return [];
  // Not by state: each END would have to update an index on it.
  if (state === 'failed' || errorId !== undefined) return [sql`failed_at is not null`];
  return when(anomaly, () => sql`(start_missing or start_repeated or start_late or event_after_end)`);
}
