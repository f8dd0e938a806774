import type { CountedStep, Steps } from '../record/count-executions.ts';
import type { RunningCounts } from '../record/count-running-of.ts';
import type { ErrorGroup } from '../record/error-group.ts';
import type { Health } from './health.ts';
import type { WindowName } from './windows.ts';

/** The figures of an overview. */
export interface OverviewData {
  window: WindowName;
  steps: Steps;
  counted: CountedStep[];
  running: RunningCounts;
  /** Automations, and those of them that fail now. */
  automations: number;
  failing: number;
  /** The newest of those that fail. */
  failingShown: Health[];
  errors: ErrorGroup[];
}
