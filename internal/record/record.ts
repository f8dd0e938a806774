import type { Database } from '../store/database.ts';
import type { Alert, AlertFilters, AlertPosition } from './alert.ts';
import { aroundExecution, type Surroundings } from './around-execution.ts';
import type { Automation, AutomationDetail, AutomationPosition, SeriesStep } from './automation.ts';
import { listDeclarations, type Declaration } from './declaration.ts';
import { listDeliveries, listWebhooks, type Delivery, type WebhookState } from './delivery.ts';
import type { ErrorGroupPosition, ErrorGroups } from './error-group.ts';
import { countErrors, type ErrorCount } from './count-errors.ts';
import { countExecutions, type CountedStep, type Steps } from './count-executions.ts';
import { countRunningOf, type RunningCounts } from './count-running-of.ts';
import type { Execution, ExecutionPosition } from './execution.ts';
import { exportEvents } from './export-events.ts';
import type { ErrorFilters, EventFilters, ExecutionFilters, Window } from './filters.ts';
import { getAutomation } from './get-automation.ts';
import { getExecution } from './get-execution.ts';
import { listAlerts } from './list-alerts.ts';
import { listAutomations } from './list-automations.ts';
import { listErrors } from './list-errors.ts';
import { listEvents } from './list-events.ts';
import { listExecutions } from './list-executions.ts';
import { newestRuns, type AutomationRuns } from './newest-runs.ts';
import type { Page, PageRequest } from './page.ts';
import { pollStored } from './poll-stored.ts';
import { usesReaderRole } from './read-as.ts';
import { replicaLagMs } from './replica-lag.ts';
import type { EventPosition, StoredEvent } from './stored-event.ts';
import type { StoredSince, StreamPosition } from './stream.ts';
import { Turns } from './turns.ts';

export interface RecordOptions {
  /**
   * Time after which a search answers with what it has found, in ms: well below the statement
   * time-out.
   */
  searchMs: number;
  /** How long after newer events a stream still notices an event, in ms. */
  overlapMs: number;
}

/** Figures that suit a statement time-out of 5 s. */
export const defaultRecordOptions: RecordOptions = { searchMs: 1_000, overlapMs: 120_000 };

/** The read operations. Each reads one organization in short read-only transactions. */
export interface Record {
  /** In the order of their ids. */
  listAutomations(
    organization: string,
    window: Window,
    page: PageRequest<AutomationPosition>,
  ): Promise<Page<Automation, AutomationPosition>>;
  /** Undefined when the automation has no execution. */
  getAutomation(
    organization: string,
    automationId: string,
    window: Window & { step: SeriesStep },
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
  /** The group that was seen last comes first. */
  listErrors(organization: string, filters: ErrorFilters, page: PageRequest<ErrorGroupPosition>): Promise<ErrorGroups>;
  /**
   * All events, oldest first, in pages of at most `limit`, after a position. Without `to` it ends
   * with the events accepted before it began, by the clock of this process. It may miss those that
   * are stored later.
   */
  exportEvents(
    organization: string,
    filters: EventFilters,
    page: PageRequest<EventPosition>,
  ): AsyncIterable<Page<StoredEvent, EventPosition>>;
  /**
   * The events stored since a position, and their executions. Without a position it finds none and
   * returns the position of now.
   */
  pollStored(organization: string, since: StreamPosition | undefined, limit: number): Promise<StoredSince>;
  /** What is declared about automations, all or some, in the order of their ids. */
  listDeclarations(organization: string, only?: readonly string[]): Promise<Declaration[]>;
  /** The alert that opened last comes first. */
  listAlerts(
    organization: string,
    filters: AlertFilters,
    page: PageRequest<AlertPosition>,
  ): Promise<Page<Alert, AlertPosition>>;
  /** The newest deliveries to webhooks, of one automation or of all. */
  listDeliveries(organization: string, limit: number, automationId?: string): Promise<Delivery[]>;
  listWebhooks(organization: string): Promise<WebhookState[]>;
  /** How far a replica is behind, in ms; undefined on a primary. */
  replicaLagMs(): Promise<number | undefined>;
  /** True if queries run as the role `runledger_reader`. */
  usesReaderRole(): Promise<boolean>;
}

/** Binds the operations to a database. The caller opens and destroys it. */
export function createRecord(db: Database, options: RecordOptions = defaultRecordOptions): Record {
  const turns = new Turns();
  const search = { searchMs: options.searchMs, turns };
  return {
    listAutomations: (organization, window, page) => listAutomations(db, organization, window, page),
    getAutomation: (organization, automationId, window) => getAutomation(db, organization, automationId, window),
    newestRuns: (organization, count, only) => newestRuns(db, organization, count, only),
    countExecutions: (organization, steps) => countExecutions(db, organization, steps),
    countRunning: (organization, overdueBefore) => countRunningOf(db, organization, overdueBefore),
    countErrors: (organization, steps) => countErrors(db, organization, steps),
    listExecutions: (organization, filters, page) => listExecutions(db, organization, filters, page, search),
    getExecution: (organization, automationId, executionId) =>
      getExecution(db, organization, automationId, executionId),
    aroundExecution: (organization, execution) => aroundExecution(db, organization, execution),
    listEvents: (organization, filters, page) => listEvents(db, organization, filters, page, search),
    listErrors: (organization, filters, page) => listErrors(db, organization, filters, page),
    exportEvents: (organization, filters, page) => exportEvents(db, organization, filters, page, turns),
    pollStored: (organization, since, limit) => pollStored(db, organization, since, limit, options),
    listDeclarations: (organization, only) => listDeclarations(db, organization, only),
    listAlerts: (organization, filters, page) => listAlerts(db, organization, filters, page),
    listDeliveries: (organization, limit, automationId) => listDeliveries(db, organization, limit, automationId),
    listWebhooks: (organization) => listWebhooks(db, organization),
    replicaLagMs: () => replicaLagMs(db),
    usesReaderRole: () => usesReaderRole(db),
  };
}
