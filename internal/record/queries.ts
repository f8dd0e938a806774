import type { ExecutionState } from '../event/outcome/execution-state.ts';
import type { MacKey } from '../ledger/mac.ts';
import type { Database } from '../store/database.ts';
import { listAcknowledged, listActsOn, listMutes } from './acts.ts';
import { aroundExecution } from './around-execution.ts';
import { findByName, findDeclared, namesOf } from './automation-names.ts';
import { countErrors } from './count-errors.ts';
import { countExecutions } from './count-executions.ts';
import { countRunningOf } from './count-running-of.ts';
import { listDeclarations } from './declaration.ts';
import { listDeliveries, listChannels } from './delivery.ts';
import { eventCost, exportEvents } from './export-events.ts';
import type { SearchOptions } from './fill-page.ts';
import type { EventFilters } from './filters.ts';
import { getAutomation } from './get-automation.ts';
import { getBlindness } from './get-blindness.ts';
import { getExecution } from './get-execution.ts';
import { listAlerts } from './list-alerts.ts';
import { listAutomations } from './list-automations.ts';
import { listErrorTimes } from './list-error-times.ts';
import { listErrors } from './list-errors.ts';
import { listEvents } from './list-events.ts';
import { listExecutions } from './list-executions.ts';
import { listTimeline } from './list-timeline.ts';
import { getCheckpoint, getProof, getSeal, getSignedCheckpoint, getTile, listActs } from './ledger.ts';
import { newestRuns } from './newest-runs.ts';
import { pageOfDay, type DayPosition } from './page-of-day.ts';
import type { PageRequest } from './page.ts';
import { pollStored } from './poll-stored.ts';
import { ReadBudget } from './read-budget.ts';
import type { EventPosition } from './stored-event.ts';
import type { StreamPosition } from './stream.ts';
import { WriteRate } from './write-rate.ts';

export interface QueryOptions {
  /**
   * Time after which a search answers with what it has found, in ms; well below the statement
   * time-out.
   */
  searchMs: number;
  /** How long after newer events a stream still notices an event, in ms. */
  overlapMs: number;
  /**
   * Rows a second that this process may read for searches, figures and exports while workers store
   * many events.
   */
  busyRowsPerSecond: number;
}

/** Figures that suit a statement time-out of 5 s. */
export const defaultQueryOptions: QueryOptions = { searchMs: 1_000, overlapMs: 120_000, busyRowsPerSecond: 50_000 };

/** Rows a second at other times, unless more is set: half the time of a core. */
const idleRowsPerSecond = 250_000;

/** About the most rows that figures read, and how long they may wait for the budget, in ms. */
const [rowsOfFigures, figuresWithinMs] = [10_000, 5_000];

/** The read operations of one database. The first argument of each is the organization. */
export type Queries = ReturnType<typeof createQueries>;

/**
 * Binds the operations to a database, which the caller opens and destroys. This is their only list:
 * {@link decorated} derives others from it.
 * @param actKeys the keys of owners' acts; none without a log.
 */
export function createQueries(
  db: Database,
  options: QueryOptions = defaultQueryOptions,
  actKeys: readonly MacKey[] = [],
) {
  const writes = new WriteRate(db);
  const budget = new ReadBudget(async () =>
    (await writes.isBusy()) ? options.busyRowsPerSecond : Math.max(idleRowsPerSecond, options.busyRowsPerSecond),
  );
  /** An operation that reads little. */
  const bound =
    <Query extends unknown[], Result>(read: (db: Database, ...query: Query) => Result) =>
    (...query: Query): Result =>
      read(db, ...query);
  /** An operation that reads what owners did. */
  const owners =
    <Query extends unknown[], Result>(read: (db: Database, keys: readonly MacKey[], ...query: Query) => Result) =>
    (...query: Query): Result =>
      read(db, actKeys, ...query);
  /** An operation that reads many rows: as many as `rowsOf` says. */
  const figures =
    <Query extends unknown[], Result>(
      read: (db: Database, ...query: Query) => Promise<Result>,
      rowsOf: (result: Result) => number,
    ) =>
    (...query: Query): Promise<Result> =>
      budget.run(() => read(db, ...query), { rows: rowsOfFigures, rowsOf, withinMs: figuresWithinMs });
  /** An operation that reads slices until a page is full. */
  const search =
    <Filters, Page, Result>(
      read: (db: Database, organization: string, filters: Filters, page: Page, search: SearchOptions) => Result,
    ) =>
    (organization: string, filters: Filters, page: Page): Result =>
      read(db, organization, filters, page, { searchMs: options.searchMs, budget });
  const countedErrors = figures(listErrors, ({ counted }) => counted);
  return {
    listAutomations: figures(listAutomations, ({ items }) => sum(items.map((item) => item.window).map(executionsOf))),
    // It reads its executions for the window, and again for the series.
    getAutomation: figures(getAutomation, (automation) =>
      automation === undefined ? 0 : 2 * executionsOf(automation.window),
    ),
    newestRuns: figures(newestRuns, (automations) => sum(automations.map(({ runs }) => runs.length))),
    // It reads only index entries.
    countExecutions: figures(countExecutions, (counted) => sum(counted.map(executionsOf)) / 4),
    countRunning: bound(countRunningOf),
    countErrors: figures(countErrors, (counted) => sum(counted.map(({ count }) => count))),
    listExecutions: search(listExecutions),
    getExecution: bound(getExecution),
    aroundExecution: bound(aroundExecution),
    listEvents: search(listEvents),
    listTimeline: bound(listTimeline),
    listErrors: async (...query: Parameters<typeof countedErrors>) => (await countedErrors(...query)).groups,
    listErrorTimes: bound(listErrorTimes),
    exportEvents: (organization: string, filters: EventFilters, page: PageRequest<EventPosition>) =>
      exportEvents(db, organization, filters, page, budget),
    pageOfDay: (organization: string, day: number, page: PageRequest<DayPosition>) =>
      budget.run(() => pageOfDay(db, organization, day, page), { rows: page.limit * eventCost, withinMs: Infinity }),
    pollStored: (organization: string, since: StreamPosition | undefined, limit: number) =>
      pollStored(db, organization, since, limit, options),
    listDeclarations: bound(listDeclarations),
    namesOf: bound(namesOf),
    findByName: bound(findByName),
    findDeclared: bound(findDeclared),
    listAlerts: owners(listAlerts),
    listMutes: owners(listMutes),
    listActsOn: owners(listActsOn),
    listAcknowledged: owners(listAcknowledged),
    listDeliveries: bound(listDeliveries),
    listChannels: bound(listChannels),
    getCheckpoint: bound(getCheckpoint),
    getSignedCheckpoint: bound(getSignedCheckpoint),
    listActs: bound(listActs),
    getTile: bound(getTile),
    getProof: bound(getProof),
    getSeal: bound(getSeal),
    getBlindness: bound(getBlindness),
  };
}

function executionsOf({ counts }: { counts: { [state in ExecutionState]: number } }): number {
  return counts.running + counts.succeeded + counts.failed;
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** An operation as decorators see it: the first argument is the organization. */
export type Operation = (organization: string, ...query: unknown[]) => unknown;

/** The same operations, each wrapped by `around`, which keeps arguments and results. */
export function decorated(queries: Queries, around: (name: keyof Queries, operation: Operation) => Operation): Queries {
  const entries = Object.entries(queries) as [keyof Queries, Operation][];
  return Object.fromEntries(entries.map(([name, operation]) => [name, around(name, operation)])) as Queries;
}
