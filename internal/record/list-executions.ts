import type { Database } from '../store/database.ts';
import { dayOf } from '../store/partitions/days.ts';
import { executionsWithId } from '../store/compacted/expanded.ts';
import { sql } from '../store/sql.ts';
import { automationsWith } from './automations-of.ts';
import { time, when, type Condition } from './conditions.ts';
import {
  acceptedBetween,
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
import { matchError, matchText, type Matched } from './match-events.ts';
import { hasColdSince, type ArchivedSource } from './over-events.ts';
import type { Page, PageRequest } from './page.ts';
import { readAs } from './read-as.ts';
import { readSlice, type SliceOptions } from './slice-of-executions.ts';
import { readSliceWithError } from './slice-with-error.ts';

/** A page of executions, and where a search in their events has been. */
export interface ExecutionPage extends Page<Execution, ExecutionPosition> {
  /** The objects of the archive that say why executions of the page match. */
  archived?: ArchivedSource[];
  /**
   * With cold days: the time after which all executions were searched. The page ends there, and the
   * next one goes on.
   */
  searched_from?: string;
}

/** A search in the events of executions. */
interface EventSearch {
  /** When it has taken its time, as `performance.now()`. */
  end: number;
  /** The objects of the archive that matches come from, by day and name. */
  archived: Map<string, ArchivedSource>;
  /** True once it has looked into the archive. */
  isCold: boolean;
}

/** What an execution costs the budget, in rows, when its events are read too. */
const costWithEvents = 6;

/**
 * Executions, newest first. An index finds those of an automation, of a state, or with an anomaly;
 * the other filters search through slices.
 */
export async function listExecutions(
  db: Database,
  organization: string,
  filters: ExecutionFilters,
  page: PageRequest<ExecutionPosition>,
  search: SearchOptions,
): Promise<ExecutionPage> {
  let base: Awaited<ReturnType<typeof baseOf>> | undefined;
  const looked: EventSearch = { end: performance.now() + search.searchMs, archived: new Map(), isCold: false };
  const found = await fillPage({
    ...search,
    page,
    rowsPerMatch: rowsPerMatch(filters),
    rowCost: searchesEvents(filters) ? costWithEvents : 1,
    itemOf: executionOf,
    positionOf: positionOfExecution,
    readSlice: async (after, size) => {
      base ??= await baseOf(db, organization, filters);
      const options: SliceOptions = { organization, ...base, filters, after, size };
      return searchesEvents(filters)
        ? searchSlice(db, options, looked)
        : readAs(db, organization, (trx) => readSlice<ExecutionRow>(trx, shownColumns(organization), options));
    },
  });
  const end = looked.isCold && found.items.length < page.limit ? found.next : undefined;
  return {
    ...found,
    ...(looked.archived.size > 0 && { archived: [...looked.archived.values()] }),
    ...(end !== undefined && { searched_from: end.firstEventAt }),
  };
}

/** A slice of the executions whose events have the wanted `error_id` and text. */
async function searchSlice(
  db: Database,
  options: SliceOptions,
  search: EventSearch,
): Promise<Slice<ExecutionRow, ExecutionPosition>> {
  const { organization, filters } = options;
  const { errorId, q } = filters;
  const short =
    errorId === undefined
      ? undefined
      : await readAs(db, organization, (trx) => readSliceWithError(trx, errorId, options));
  // That query reads Postgres only.
  const isCold = short?.begin !== undefined && (await hasColdSince(db, organization, short.begin));
  if (short !== undefined && !isCold) {
    const matches = q === undefined ? short.matches : (await matchText(db, organization, short.matches, q)).rows;
    return { next: short.next, matches };
  }
  // Most of a slice does not match, so only its keys leave Postgres.
  const slice = await readAs(db, organization, (trx) => readSlice<ExecutionKey>(trx, executionKeyColumns, options));
  const { matches, next } = await searchDays(db, options, slice, search);
  return { matches: await readAs(db, organization, (trx) => findByKeys(trx, organization, matches)), next };
}

/**
 * Looks for the wanted events of a slice. If some are in the archive, it goes day by day, since
 * each takes a read, and ends after the day at which the search has taken its time.
 */
async function searchDays(
  db: Database,
  { organization, filters }: SliceOptions,
  { matches, next }: Slice<ExecutionKey, ExecutionPosition>,
  search: EventSearch,
): Promise<Slice<ExecutionKey, ExecutionPosition>> {
  const isCold = await reachesArchive(db, organization, matches);
  search.isCold ||= isCold;
  const days = isCold ? [...Map.groupBy(matches, (row) => dayOf(row.first_event_at.getTime())).values()] : [matches];
  const found: ExecutionKey[] = [];
  for (const [index, day] of days.entries()) {
    const { rows, archived } = await matchEvents(db, organization, day, filters);
    found.push(...rows);
    for (const one of archived) search.archived.set(`${one.day} ${one.object}`, one);
    const last = day.at(-1);
    if (last !== undefined && index < days.length - 1 && performance.now() > search.end) {
      return { matches: found, next: positionOfExecution(last) };
    }
  }
  return { matches: found, next };
}

/** True if events of these executions may be in the archive only. */
async function reachesArchive(db: Database, organization: string, executions: ExecutionKey[]): Promise<boolean> {
  if (db.archive === undefined || executions.length === 0) return false;
  const first = Math.min(...executions.map((row) => acceptedBetween(row).from.getTime()));
  return hasColdSince(db, organization, new Date(first));
}

/** The executions that have the wanted `error_id` and text, each in some event. */
async function matchEvents(
  db: Database,
  organization: string,
  executions: ExecutionKey[],
  { errorId, q }: ExecutionFilters,
): Promise<Matched<ExecutionKey>> {
  const failed =
    errorId === undefined
      ? { rows: executions, archived: [] }
      : await matchError(db, organization, executions, errorId);
  if (q === undefined) return failed;
  const { rows, archived } = await matchText(db, organization, failed.rows, q);
  return { rows, archived: [...failed.archived, ...archived] };
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

/** Conditions that an index serves, and what they select from. */
async function baseOf(
  db: Database,
  organization: string,
  filters: ExecutionFilters,
): Promise<Pick<SliceOptions, 'base' | 'source'>> {
  const { automationId, executionId, from, to } = filters;
  const base = [
    sql`organization = ${organization}`,
    ...when(automationId, (id) => sql`automation_id = ${id}::uuid`),
    ...when(from, (from) => sql`first_event_at >= ${time(from)}`),
    ...when(to, (to) => sql`first_event_at < ${time(to)}`),
    ...partialIndexCondition(filters),
  ];
  if (executionId === undefined) return { base };
  const automations =
    automationId === undefined
      ? await readAs(db, organization, (trx) => automationsWith(trx, organization, executionId))
      : [automationId];
  const source = executionsWithId({
    organization: sql`${organization}`,
    automationId: sql`any(${automations}::uuid[])`,
    executionId: sql`${executionId}`,
  });
  return { base: [...base, sql`execution_id = ${executionId}`], source: sql`(${source}) as with_id` };
}

/** Returns at most one condition: a second one would make the read of a slice unbounded. */
function partialIndexCondition({ state, anomaly, errorId }: ExecutionFilters): Condition[] {
  // These come from a separate table.
  if (state === 'running' || state === 'lost') return [];
  // Not by state: each END would have to update an index on it.
  if (state === 'failed' || errorId !== undefined) return [sql`failed_at is not null`];
  return when(anomaly, () => sql`(start_missing or start_repeated or start_late or event_after_end)`);
}
