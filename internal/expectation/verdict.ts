/**
 * A `late` start is recorded and never stays open. An `unknown` one raises an alert if it lasts.
 */
export const verdictKinds = ['missing', 'late', 'overrunning', 'failing', 'lost', 'unknown'] as const;
export type VerdictKind = (typeof verdictKinds)[number];

/** The facts behind a verdict; times as ISO 8601 texts in UTC, durations in seconds. */
export type Facts = Readonly<Record<string, string | number>>;

/** An expectation that is not met at a watermark. An automation without verdicts is healthy. */
export interface Verdict {
  kind: VerdictKind;
  /** The expected time, the execution, or `failing`. */
  occurrence: string;
  /** One sentence for people. */
  reason: string;
  facts: Facts;
  /** Since when it holds: an ISO 8601 text in UTC. */
  since: string;
  /** True if it is an alert: a person should look. */
  told: boolean;
}

/** An expectation that was not met for a period; times in ms since the Unix epoch. */
export interface Finding {
  kind: VerdictKind;
  occurrence: string;
  reason: string;
  facts: Facts;
  from: number;
  /** Undefined while it holds. */
  until: number | undefined;
  /**
   * When the newest event behind it was accepted, if that is known: long after it occurred, if its
   * sender was offline.
   */
  acceptedAt?: number | undefined;
  /** When it becomes an alert, if it still holds then. Default: `from`. Infinity: never. */
  toldFrom?: number;
  /** One sentence for people about its end; set together with `until`. */
  resolvedReason?: string;
}

/** Why a finding is an alert. */
export type AlertKind = VerdictKind;
