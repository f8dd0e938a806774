/** A `late` start is noted, and never stays open. An `unknown` one is told if it lasts long. */
export const verdictKinds = ['missing', 'late', 'overrunning', 'failing', 'lost', 'unknown'] as const;
export type VerdictKind = (typeof verdictKinds)[number];

/** The facts that a verdict rests on; times as ISO texts in UTC, durations in seconds. */
export type Facts = Readonly<Record<string, string | number>>;

/** An expectation that is not met at a watermark. An automation without verdicts is healthy. */
export interface Verdict {
  kind: VerdictKind;
  /** The expected time, the execution, or `failing`. */
  occurrence: string;
  /** One sentence for people. */
  reason: string;
  facts: Facts;
  /** Since when it holds: an ISO text in UTC. */
  since: string;
  /** True for an alert: a person should look. */
  told: boolean;
}

/** An expectation that was not met, from one time to another; times in ms since the Unix epoch. */
export interface Finding {
  kind: VerdictKind;
  occurrence: string;
  reason: string;
  facts: Facts;
  from: number;
  /** Undefined while it holds. */
  until: number | undefined;
  /** From when on it is told, if it still holds then. Default: `from`. Infinity: never. */
  toldFrom?: number;
  /** One sentence for people about its end, with `until`. */
  resolvedReason?: string;
}

/** Why a finding is an alert. */
export type AlertKind = VerdictKind;
