import type { ExecutionState } from '../event/outcome/execution-state.ts';
import type { Database } from '../store/database.ts';
import type { Alert, AlertFilters, AlertPosition } from './alert.ts';
import { aroundExecution, type Surroundings } from './around-execution.ts';
import type { Automation, AutomationDetail, AutomationPosition, SeriesStep } from './automation.ts';
import { findByName, namesOf, type AutomationNames } from './automation-names.ts';
import { listDeclarations, type Declaration } from './declaration.ts';
import { listDeliveries, listWebhooks, type Delivery, type WebhookState } from './delivery.ts';
import type { ErrorGroup, ErrorGroupPosition, ErrorGroups } from './error-group.ts';
import { countErrors, type ErrorCount } from './count-errors.ts';
import { countExecutions, type CountedStep, type Steps } from './count-executions.ts';
import { countRunningOf, type RunningCounts } from './count-running-of.ts';
import type { Execution, ExecutionPosition } from './execution.ts';
import { exportEvents } from './export-events.ts';
import type { ErrorFilters, EventFilters, ExecutionFilters, Window } from './filters.ts';
import { getAutomation } from './get-automation.ts';
import { getBlindness, type Blindness } from './get-blindness.ts';
import { getExecution } from './get-execution.ts';
import { listAlerts } from './list-alerts.ts';
import type { ExecutionId } from './find-newest-event.ts';
import { listAutomations } from './list-automations.ts';
import { listErrorTimes, type ErrorTimes } from './list-error-times.ts';
import { listErrors } from './list-errors.ts';
import { listEvents } from './list-events.ts';
import { listExecutions } from './list-executions.ts';
import { listTimeline, type Timeline, type TimelineRequest } from './list-timeline.ts';
import {
  getCheckpoint,
  getProof,
  getSeal,
  getSignedCheckpoint,
  getTile,
  listActs,
  type Seal,
  type SignedCheckpoint,
} from './ledger.ts';
import { newestRuns, type AutomationRuns } from './newest-runs.ts';
import type { Page, PageRequest } from './page.ts';
import { pollStored } from './poll-stored.ts';
import { usesReaderRole } from './role-of-queries.ts';
import { replicaLagMs } from './replica-lag.ts';
import type { EventPosition, ProvenEvent, StoredEvent } from './stored-event.ts';
import { ReadBudget } from './read-budget.ts';
import type { StoredSince, StreamPosition } from './stream.ts';
import { WriteRate } from './write-rate.ts';

export interface QueryOptions {
  /**
   * Time after which a search answers with what it has found, in ms: well below the statement
   * time-out.
   */
  searchMs: number;
  /** How long after newer events a stream still notices an event, in ms. */
  overlapMs: number;
  /**
   * Rows a second that searches, figures and exports of this process may read while workers store
   * many events.
   */
  busyRowsPerSecond: number;
}

/** Figures that suit a statement time-out of 5 s. */
export const defaultQueryOptions: QueryOptions = { searchMs: 1_000, overlapMs: 120_000, busyRowsPerSecond: 50_000 };

/** As many at other times, unless more is set: half of the time of a core. */
const idleRowsPerSecond = 250_000;

/** Rows that figures read at most, about, and how long they may wait for the budget, in ms. */
const [rowsOfFigures, figuresWithinMs] = [10_000, 5_000];

/** The read operations. Each reads one organization in short read-only transactions. */
export interface Queries {
  /** In the order of their ids. */
  listAutomations(
    organization: string,
    window: Window,
    page: PageRequest<AutomationPosition>,
  ): Promise<Page<Automation, AutomationPosition>>;
  /** Undefined when the automation has no execution and is not declared. */
  getAutomation(
    organization: string,
    automationId: string,
    window: Window & { step: SeriesStep; offsetMs?: number | undefined },
  ): Promise<AutomationDetail | undefined>;
  /** Automations, all or some, in the order of their ids, each with its newest executions. */
  newestRuns(organization: string, count: number, only?: readonly string[]): Promise<AutomationRuns[]>;
  /** Executions of a window by step and state; steps without executions are absent. */
  countExecutions(organization: string, steps: Steps): Promise<CountedStep[]>;
  /** Running executions, and those of them that began before a time. */
  countRunning(organization: string, overdueBefore: Date): Promise<RunningCounts>;
  /** Errors of a window by automation, `error_id` and step. */
  countErrors(organization: string, steps: Steps): Promise<ErrorCount[]>;
  /** Newest first, by the first event. */
  listExecutions(
    organization: string,
    filters: ExecutionFilters,
    page: PageRequest<ExecutionPosition>,
  ): Promise<Page<Execution, ExecutionPosition>>;
  getExecution(organization: string, automationId: string, executionId: string): Promise<Execution | undefined>;
  /** The neighbours of an execution, and the usual durations of its automation. */
  aroundExecution(organization: string, execution: Execution): Promise<Surroundings>;
  /** With `executionId`: oldest first. Otherwise newest first. */
  listEvents(
    organization: string,
    filters: EventFilters,
    page: PageRequest<EventPosition>,
  ): Promise<Page<StoredEvent, EventPosition>>;
  /** A page of the events of one execution, from any place in it. */
  listTimeline(organization: string, request: TimelineRequest): Promise<Timeline>;
  /** The group that was seen last comes first. */
  listErrors(organization: string, filters: ErrorFilters, page: PageRequest<ErrorGroupPosition>): Promise<ErrorGroups>;
  /** When the first and the last ERROR of groups of a window happened, in their order. */
  listErrorTimes(organization: string, groups: readonly ErrorGroup[], window: Window): Promise<ErrorTimes[]>;
  /**
   * All events, oldest first, in pages of at most `limit`, after a position. Without `to` it ends
   * with the events accepted before it began, by the clock of this process. It may miss those that
   * are stored later.
   */
  exportEvents(
    organization: string,
    filters: EventFilters,
    page: PageRequest<EventPosition>,
  ): AsyncIterable<Page<ProvenEvent, EventPosition>>;
  /**
   * The events stored since a position, and their executions. Without a position it finds none and
   * returns the position of now.
   */
  pollStored(organization: string, since: StreamPosition | undefined, limit: number): Promise<StoredSince>;
  /** What is declared about automations, all or some, in the order of their ids. */
  listDeclarations(organization: string, only?: readonly string[]): Promise<Declaration[]>;
  /** The names of some automations. */
  namesOf(organization: string, automations: readonly string[]): Promise<AutomationNames>;
  /** The ids of the automations with a name, in order. */
  findByName(organization: string, name: string): Promise<string[]>;
  /** The alert that opened last comes first. */
  listAlerts(
    organization: string,
    filters: AlertFilters,
    page: PageRequest<AlertPosition>,
  ): Promise<Page<Alert, AlertPosition>>;
  /** The newest deliveries to webhooks, of one automation or of all. */
  listDeliveries(organization: string, limit: number, automationId?: string): Promise<Delivery[]>;
  listWebhooks(organization: string): Promise<WebhookState[]>;
  /** The newest checkpoint of the organization's log; undefined while there is none. */
  getCheckpoint(organization: string): Promise<SignedCheckpoint | undefined>;
  /** The newest signed checkpoint, with witnesses or without. */
  getSignedCheckpoint(organization: string): Promise<SignedCheckpoint | undefined>;
  /** The texts of the acts of the log, in canonical JSON. */
  listActs(organization: string): Promise<string[]>;
  /** A tile of its log, as it is stored or longer; empty if there is none. */
  getTile(organization: string, tile: { level: number | 'entries'; index: number }): Promise<Buffer>;
  /** The proof of an event; undefined while the newest checkpoint does not cover it. */
  getProof(organization: string, eventId: string): Promise<string | undefined>;
  /** When an event was sealed, and which witnesses have cosigned; undefined without a log. */
  getSeal(organization: string, execution: ExecutionId): Promise<Seal | undefined>;
  /** How far the record and the verdicts of the organization's database are behind. */
  getBlindness(organization: string): Promise<Blindness>;
  /** How far a replica is behind, in ms; undefined on a primary. */
  replicaLagMs(): Promise<number | undefined>;
  /** True if queries run as the role `runledger_reader`. */
  usesReaderRole(): Promise<boolean>;
}

/** Binds the operations to a database. The caller opens and destroys it. */
export function createQueries(db: Database, options: QueryOptions = defaultQueryOptions): Queries {
  const writes = new WriteRate(db);
  const budget = new ReadBudget(async () =>
    (await writes.isBusy()) ? options.busyRowsPerSecond : Math.max(idleRowsPerSecond, options.busyRowsPerSecond),
  );
  const search = { searchMs: options.searchMs, budget };
  const figures = <T>(read: () => Promise<T>, rowsOf: (result: T) => number): Promise<T> =>
    budget.run(read, { rows: rowsOfFigures, rowsOf, withinMs: figuresWithinMs });
  return {
    listAutomations: (organization, window, page) =>
      figures(
        () => listAutomations(db, organization, window, page),
        ({ items }) => sum(items.map((item) => item.window).map(executionsOf)),
      ),
    // Its executions are read for the window, and again for the series.
    getAutomation: (organization, automationId, window) =>
      figures(
        () => getAutomation(db, organization, automationId, window),
        (automation) => (automation === undefined ? 0 : 2 * executionsOf(automation.window)),
      ),
    newestRuns: (organization, count, only) =>
      figures(
        () => newestRuns(db, organization, count, only),
        (automations) => sum(automations.map(({ runs }) => runs.length)),
      ),
    countExecutions: (organization, steps) =>
      figures(
        () => countExecutions(db, organization, steps),
        // It reads entries of indexes only.
        (counted) => sum(counted.map(executionsOf)) / 4,
      ),
    countRunning: (organization, overdueBefore) => countRunningOf(db, organization, overdueBefore),
    countErrors: (organization, steps) =>
      figures(
        () => countErrors(db, organization, steps),
        (counted) => sum(counted.map(({ count }) => count)),
      ),
    listExecutions: (organization, filters, page) => listExecutions(db, organization, filters, page, search),
    getExecution: (organization, automationId, executionId) =>
      getExecution(db, organization, automationId, executionId),
    aroundExecution: (organization, execution) => aroundExecution(db, organization, execution),
    listEvents: (organization, filters, page) => listEvents(db, organization, filters, page, search),
    listErrorTimes: (organization, groups, window) => listErrorTimes(db, organization, groups, window),
    listTimeline: (organization, request) => listTimeline(db, organization, request),
    listErrors: async (organization, filters, page) => {
      const read = () => listErrors(db, organization, filters, page);
      return (await figures(read, ({ counted }) => counted)).groups;
    },
    exportEvents: (organization, filters, page) => exportEvents(db, organization, filters, page, budget),
    pollStored: (organization, since, limit) => pollStored(db, organization, since, limit, options),
    listDeclarations: (organization, only) => listDeclarations(db, organization, only),
    namesOf: (organization, automations) => namesOf(db, organization, automations),
    findByName: (organization, name) => findByName(db, organization, name),
    listAlerts: (organization, filters, page) => listAlerts(db, organization, filters, page),
    listDeliveries: (organization, limit, automationId) => listDeliveries(db, organization, limit, automationId),
    listWebhooks: (organization) => listWebhooks(db, organization),
    getCheckpoint: (organization) => getCheckpoint(db, organization),
    getSignedCheckpoint: (organization) => getSignedCheckpoint(db, organization),
    listActs: (organization) => listActs(db, organization),
    getTile: (organization, tile) => getTile(db, organization, tile),
    getProof: (organization, eventId) => getProof(db, organization, eventId),
    getSeal: (organization, execution) => getSeal(db, organization, execution),
    getBlindness: (organization) => getBlindness(db, organization),
    replicaLagMs: () => replicaLagMs(db),
    usesReaderRole: () => usesReaderRole(db),
  };
}

function executionsOf({ counts }: { counts: { [state in ExecutionState]: number } }): number {
  return counts.running + counts.succeeded + counts.failed;
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
