/** An execution as expectations see it; times in ms since the Unix epoch. */
export interface Run {
  executionId: string;
  /** The time of its first event. */
  startedAt: number;
  /** True if the record has no START for it: it started earlier. */
  lacksStart?: boolean;
  /** The time of its first ERROR. A run that fails may continue. */
  failedAt: number | undefined;
  /** The time of its first END. */
  endedAt: number | undefined;
  /** When its newest ERROR and END were accepted, if that may be news to this evaluation. */
  errorAcceptedAt?: number | undefined;
  endAcceptedAt?: number | undefined;
  /** The time of its last event. */
  lastEventAt: number;
  /** Number of STARTs: more than one if its id was reused. */
  startCount?: number;
  /**
   * For a captured Job: the time for which Kubernetes scheduled it, or `byHand`, which counts for
   * no expected time.
   */
  scheduledFor?: number | 'byHand' | undefined;
}

/** A run before a pause: retention may have left only its time. */
export type EarlierRun = Pick<Run, 'startedAt'> & Partial<Run>;

/** A period for which the record may lack events, in ms since the Unix epoch. */
export interface Gap {
  from: number;
  until: number;
}

/** Since when each rule holds, in ms since the Unix epoch. */
export interface RuleTimes {
  starts: number;
  maxDuration: number;
  failures: number;
  lost: number;
}

/** An open alert; `openedAt` in ms since the Unix epoch. */
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
  /** True if there are earlier runs. */
  hasOlderRuns: boolean;
  /** The last start before these runs if the record no longer has it. */
  startBefore?: number | undefined;
  /** Earlier runs that count only for durations and failures. */
  otherRuns?: readonly Run[];
  gaps: readonly Gap[];
  /** The open alerts, which are judged again even if they are older than the rule. */
  told?: readonly ToldFinding[];
}

/** The first gap that overlaps the span, if any. */
export function gapWithin(gaps: readonly Gap[], from: number, until: number): Gap | undefined {
  return gaps.find((gap) => gap.from <= until && gap.until >= from);
}

/** True if there is an open alert about this. */
export function isTold({ told = [] }: History, kind: string, occurrence: string): boolean {
  return told.some((alert) => alert.kind === kind && alert.occurrence === occurrence);
}
