/** An execution, as expectations see it; times in ms since the Unix epoch. */
export interface Run {
  executionId: string;
  /** The time of its first event. */
  startedAt: number;
  /** True if the record has no START of it: then it started earlier. */
  lacksStart?: boolean;
  /** The time of its first ERROR, or without one of its first END; undefined while it runs. */
  finishedAt: number | undefined;
  failed: boolean;
}

/** A time in which the record may lack events, in ms since the Unix epoch. */
export interface Gap {
  from: number;
  until: number;
}

/** What the record says about one automation. */
export interface History {
  /** Expectations hold from this time on, in ms since the Unix epoch. */
  declaredAt: number;
  /** In any order. */
  runs: readonly Run[];
  /** True if there are runs before these. */
  hasOlderRuns: boolean;
  /** Runs before these that count for durations only, since they still run. */
  longRuns?: readonly Run[];
  gaps: readonly Gap[];
}

/** The first gap that has a moment of the span, if any. */
export function gapWithin(gaps: readonly Gap[], from: number, until: number): Gap | undefined {
  return gaps.find((gap) => gap.from <= until && gap.until >= from);
}
