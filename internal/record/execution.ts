import { mostAhead } from '../event/occurred-at.ts';
import type { EventKind } from '../event/schema.ts';
import type { ShownState } from '../event/outcome/execution-state.ts';
import { anomalies, type Anomaly } from '../event/outcome/stored-batch.ts';
import { compactedWithId } from '../store/compacted/expanded.ts';
import { sql } from '../store/sql.ts';
import type { Condition } from './conditions.ts';
import { durationOf } from './duration.ts';

/** One execution as readers see it. Times are ISO 8601, UTC, in milliseconds. */
export interface Execution {
  /** The automation's id in its canonical lower-case form. */
  automation: string;
  execution_id: string;
  state: ShownState;
  first_event_at: string;
  last_event_at: string;
  started_at: string | null;
  failed_at: string | null;
  ended_at: string | null;
  /** In ms, as `durationOf` says. */
  duration_ms: number | null;
  /** Recorded events by kind. */
  counts: Record<EventKind, number>;
  /** Signs of a broken order of events. */
  anomalies: Anomaly[];
}

/** Where a page of executions ends: newest first by the first event, then by key. */
export interface ExecutionPosition {
  firstEventAt: string;
  automationId: string;
  executionId: string;
}

/** A row of `executions`, without its organization. */
export interface ExecutionRow extends Record<Anomaly, boolean> {
  automation_id: string;
  execution_id: string;
  state: ShownState;
  first_event_at: Date;
  last_event_at: Date;
  started_at: Date | null;
  failed_at: Date | null;
  ended_at: Date | null;
  start_count: number;
  event_count: number;
  warning_count: number;
  error_count: number;
  end_count: number;
  last_accepted_at: Date | null;
}

/** The fields that find the events of an execution. */
export type ExecutionKey = Pick<
  ExecutionRow,
  'automation_id' | 'execution_id' | 'first_event_at' | 'last_event_at' | 'last_accepted_at'
>;

/** The times between which all events of an execution were accepted. */
export function acceptedBetween(row: Pick<ExecutionKey, 'first_event_at' | 'last_event_at' | 'last_accepted_at'>) {
  const { first_event_at: first, last_event_at: last, last_accepted_at: lastAccepted } = row;
  return {
    // An event may have occurred a little later than it was accepted.
    from: lastAccepted === null ? first : new Date(first.getTime() - mostAhead),
    until: lastAccepted === null || lastAccepted < last ? last : lastAccepted,
  };
}

const keyColumns = 'automation_id, execution_id, first_event_at';
const otherColumns = [
  'state, last_event_at, started_at, failed_at, ended_at',
  'start_count, event_count, warning_count, error_count, end_count, last_accepted_at',
  ...anomalies,
].join(', ');

/** The columns of {@link ExecutionRow}. */
export const executionColumns = sql.raw(`${keyColumns}, ${otherColumns}`);

/**
 * The columns of {@link ExecutionRow} from rows `r`, with the state that readers see: only a
 * running execution can be lost.
 */
export const shownColumns = (organization: string): Condition => sql`
  ${sql.raw([keyColumns, otherColumns].join(', ').replace(/\bstate\b, /, ''))}, ${shownState(organization)} as state
`;

/** The state of rows `r` that readers see. */
export const shownState = (organization: string): Condition => sql`
  case when state = 'running' and (
    select lost_at from running_executions l where l.organization = ${organization}
      and (l.automation_id, l.execution_id) = (r.automation_id, r.execution_id)
  ) is not null then 'lost' else state end
`;

/** The columns of {@link ExecutionKey}. */
export const executionKeyColumns = sql.raw(`${keyColumns}, last_event_at, last_accepted_at`);

/**
 * Running or lost executions, with the columns of {@link ExecutionRow} and the organization; the
 * caller selects those of this organization.
 */
export const runningExecutions = (organization: string, isLost: boolean): Condition =>
  withOtherColumns(
    sql`(select * from running_executions where lost_at ${isLost ? sql`is not null` : sql`is null`})`,
    organization,
  );

/**
 * Adds the other columns of {@link ExecutionRow} to rows of keys. `limit 1` makes Postgres find
 * each execution by its key: it assumes that key columns are independent, and would read all
 * executions. `old`: some may be compacted.
 */
export const withOtherColumns = (keys: Condition, organization: string, { old = false } = {}): Condition => sql`
  ${keys} as r cross join lateral (
    select ${sql.raw(otherColumns)} from executions as e
    where e.organization = ${organization} and (e.automation_id, e.execution_id) = (r.automation_id, r.execution_id)
    ${old ? sql`union all select ${sql.raw(otherColumns)} from (${compactedOf(organization)}) as e` : sql``}
    limit 1
  ) as e
`;

const compactedOf = (organization: string): Condition =>
  compactedWithId({
    organization: sql`${organization}`,
    automationId: sql`r.automation_id`,
    executionId: sql`r.execution_id`,
  });

/** The order of lists of executions. */
export const newestExecutionFirst = sql.raw('first_event_at desc, automation_id desc, execution_id desc');

export function executionOf(row: ExecutionRow): Execution {
  return {
    automation: row.automation_id,
    execution_id: row.execution_id,
    state: row.state,
    first_event_at: row.first_event_at.toISOString(),
    last_event_at: row.last_event_at.toISOString(),
    started_at: row.started_at?.toISOString() ?? null,
    failed_at: row.failed_at?.toISOString() ?? null,
    ended_at: row.ended_at?.toISOString() ?? null,
    duration_ms: durationOf(row),
    counts: {
      START: row.start_count,
      EVENT: row.event_count,
      WARNING: row.warning_count,
      ERROR: row.error_count,
      END: row.end_count,
    },
    anomalies: anomalies.filter((anomaly) => row[anomaly]),
  };
}

export function positionOfExecution(row: ExecutionKey): ExecutionPosition {
  return {
    firstEventAt: row.first_event_at.toISOString(),
    automationId: row.automation_id,
    executionId: row.execution_id,
  };
}
