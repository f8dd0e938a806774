import type { Acknowledgement } from './acts.ts';
import type { AlertKind, Facts } from '../expectation/verdict.ts';
import type { AutomationFilters } from './filters.ts';

/** An expectation that was not met, from one time to another. Times are ISO 8601, UTC. */
export interface Alert {
  id: string;
  automation: string;
  kind: AlertKind;
  /** The expected time, the execution, or `failing`. */
  occurrence: string;
  /** One sentence for people. */
  reason: string;
  facts: Facts;
  opened_at: string;
  /** Null while it is open. */
  resolved_at: string | null;
  resolved_reason: string | null;
  /** Who last acknowledged it; null if nobody has. */
  acknowledged: Acknowledgement | null;
  /** Which Alertmanagers were notified, and when. */
  notices: Notice[];
}

export interface Notice {
  receiver: string;
  /** Null until it was notified. */
  told_at: string | null;
  /** When it was notified of the end. */
  resolved_told_at: string | null;
  /** Why it could not be notified; null unless the last attempt failed. */
  error: string | null;
}

/** Filters of alerts; an absent one allows everything. */
export interface AlertFilters extends AutomationFilters {
  id?: string | undefined;
  kind?: AlertKind | undefined;
  /** True: open ones only; false: resolved ones only. */
  open?: boolean | undefined;
}

/** Where a page of alerts ends: newest first. */
export interface AlertPosition {
  openedAt: string;
  id: string;
}
