import type { CountedStep, Steps } from '../record/count-executions.ts';
import type { RunningCounts } from '../record/count-running-of.ts';
import type { ErrorGroup } from '../record/error-group.ts';
import type { Declaration } from '../record/declaration.ts';
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
  /** Declared automations with expectations, and those that do not meet them now. */
  judged: number;
  attention: Declaration[];
  /** The names of declared automations. */
  names: ReadonlyMap<string, string>;
}
