import type { ExecutionState } from '../event/outcome/execution-state.ts';
import type { Execution } from './execution.ts';

/** One automation: its last execution, and its executions that began in a window. */
export interface Automation {
  /** The automation's id in its canonical lower-case form. */
  automation: string;
  /** Null before the first one. */
  last_execution: Execution | null;
  window: WindowFigures;
}

/**
 * Figures of the executions that began in a window. If there are too many, the figures cover only
 * the newest, and `from` is later than requested.
 */
export interface WindowFigures {
  from: string;
  to: string;
  counts: Record<ExecutionState, number>;
  /** Percentiles of the duration of executions with END; null without any. */
  p50_ms: number | null;
  p95_ms: number | null;
}

/** An automation with its last 60 executions, newest first, and its window by hour or day. */
export interface AutomationDetail extends Automation {
  executions: Execution[];
  series: SeriesPoint[];
}

/** The executions that began in an hour or a day of a zone. Points without any are absent. */
export interface SeriesPoint {
  at: string;
  counts: Record<ExecutionState, number>;
  p50_ms: number | null;
  p95_ms: number | null;
}

export type SeriesStep = 'hour' | 'day';

/** Where a page of automations ends: in the order of their ids. */
export interface AutomationPosition {
  automationId: string;
}
