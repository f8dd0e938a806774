import type { Generated } from 'kysely';
import type { ExecutionState } from '../../event/outcome/execution-state.ts';

/**
 * The table `executions`: counts, times and state of each execution. State and anomalies are
 * generated columns.
 */
export interface ExecutionsTable {
  organization: string;
  automation_id: string;
  execution_id: string;
  state: Generated<ExecutionState>;
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
  start_missing: Generated<boolean>;
  start_repeated: Generated<boolean>;
  start_late: Generated<boolean>;
  event_after_end: Generated<boolean>;
  /**
   * The newest `created_at` of the events that carry an `occurred_at`; null without such an event.
   * Without it, `last_event_at` is the newest `created_at`.
   */
  last_accepted_at: Date | null;
}
