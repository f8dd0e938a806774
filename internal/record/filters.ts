import type { EventKind } from '../event/schema.ts';
import type { ShownState } from '../event/outcome/execution-state.ts';
import type { Anomaly } from '../event/outcome/stored-batch.ts';

/** Which automations a list is about; an absent filter allows all. Both apply. */
export interface AutomationFilters {
  /** A UUID in any letter case. */
  automationId?: string | undefined;
  /** Any of these. */
  automationIds?: readonly string[] | undefined;
}

/** Filters of every list; an absent one allows everything. `from` is included, `to` is not. */
interface CommonFilters extends AutomationFilters {
  executionId?: string | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
  /** An ERROR with exactly this `error_id`. */
  errorId?: string | undefined;
  /**
   * A text, in any letter case and Unicode form, that occurs in a text of an event or in the
   * execution's id.
   */
  q?: string | undefined;
}

/** `from` and `to` are compared with the first event. */
export interface ExecutionFilters extends CommonFilters {
  state?: ShownState | undefined;
  anomaly?: Anomaly | undefined;
  /** True: only executions with a WARNING. */
  warning?: boolean | undefined;
}

/** `from` and `to` are compared with `created_at`. */
export interface EventFilters extends CommonFilters {
  kind?: EventKind | undefined;
}

/** `from` and `to` are compared with the time at which the ERROR happened; both are required. */
export interface ErrorFilters extends AutomationFilters {
  errorId?: string | undefined;
  from: Date;
  to: Date;
}

/** A window of time for counts and durations. `from` is included, `to` is not. */
export interface Window {
  from: Date;
  to: Date;
}
