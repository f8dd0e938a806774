/** An execution, as expectations see it; times in ms since the Unix epoch. */
export interface Run {
  executionId: string;
  /** The time of its first event. */
  startedAt: number;
  /** True if the record has no START of it: then it started earlier. */
  lacksStart?: boolean;
  /** The time of its first ERROR. A run that fails may continue. */
  failedAt: number | undefined;
  /** The time of its first END. */
  endedAt: number | undefined;
  /** The time of its last event. */
  lastEventAt: number;
  /** How many STARTs it has: more than one if its id was used again. */
  startCount?: number;
  /**
   * Of a captured Job: the time for which Kubernetes scheduled it, or `byHand`: such a run counts
   * for no expected time.
   */
  scheduledFor?: number | 'byHand' | undefined;
}

/** A time in which the record may lack events, in ms since the Unix epoch. */
export interface Gap {
  from: number;
  until: number;
}

/** From when on each rule holds, in ms since the Unix epoch. */
export interface RuleTimes {
  starts: number;
  maxDuration: number;
  failures: number;
  lost: number;
}

/** An alert that is open; `openedAt` in ms since the Unix epoch. */
export interface ToldFinding {
  kind: string;
  occurrence: string;
  openedAt: number;
}

/** What the record says about one automation. */
export interface History {
  declaredAt: RuleTimes;
  /** In any order. */
  runs: readonly Run[];
  /** True if there are runs before these. */
  hasOlderRuns: boolean;
  /** Runs before these that count for durations and failures only. */
  otherRuns?: readonly Run[];
  gaps: readonly Gap[];
  /** The open alerts: what they say is judged again, also if it is older than the rule. */
  told?: readonly ToldFinding[];
}

/** The first gap that has a moment of the span, if any. */
export function gapWithin(gaps: readonly Gap[], from: number, until: number): Gap | undefined {
  return gaps.find((gap) => gap.from <= until && gap.until >= from);
}

/** True if there is an open alert about this. */
export function isTold({ told = [] }: History, kind: string, occurrence: string): boolean {
  return told.some((alert) => alert.kind === kind && alert.occurrence === occurrence);
}
