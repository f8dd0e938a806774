import type { Acknowledgement, Act } from '../record/acts.ts';
import type { CountedStep, Steps } from '../record/count-executions.ts';
import type { RunningCounts } from '../record/count-running-of.ts';
import type { ErrorGroup } from '../record/error-group.ts';
import type { Attentions } from './attention.ts';
import type { Behind } from './behind.ts';
import type { Health } from './health.ts';
import type { WindowName } from './windows.ts';

/** The figures of an overview. */
export interface OverviewData {
  window: WindowName;
  steps: Steps;
  counted: CountedStep[];
  running: RunningCounts;
  /** The number of automations with a run or a declaration, and of those whose last run failed. */
  automations: number;
  failing: number;
  /** False for an organization without executions; `waiting` is then a declared automation. */
  hasRun: boolean;
  waiting: string | undefined;
  /** The newest of the failing automations. */
  failingShown: Health[];
  errors: ErrorGroup[];
  /** What needs attention. */
  attentions: Attentions;
  /** Mutes in force or to come. */
  mutes: Act[];
  /** Who has acknowledged open alerts: by automation and kind. */
  acknowledged: ReadonlyMap<string, Acknowledgement>;
  /** Set while the record does not have the newest events. */
  behind: Behind | undefined;
  /** The names of declared automations. */
  names: ReadonlyMap<string, string>;
}
