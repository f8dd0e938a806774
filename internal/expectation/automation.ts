/** A link of an automation, for people. */
export interface AutomationLink {
  title: string;
  url: string;
}

/** When an automation counts as failing. */
export type DeclaredFailures =
  | { consecutive: number }
  /** At least so many failed runs within a duration. */
  | { count: number; within: string }
  /** At least so many percent of the last `of` runs. */
  | { rate: number; of: number }
  /** No failure is told, whatever the default of the organization is. */
  | { never: true };

/** Expectations as people declare them; durations are texts such as `1h30m`. */
export interface DeclaredExpectation {
  /** A cron expression of five fields. */
  schedule?: string;
  /** Longest time between two starts. */
  every?: string;
  /** An IANA time zone. Default: UTC. */
  timeZone?: string;
  /** How late a start may be. Default: 10m. */
  grace?: string;
  /** How early a start counts for its time: at most half the interval. Default: 5m. */
  early?: string;
  /** How long any run may take. */
  maxDuration?: string;
  failures?: DeclaredFailures;
  /** A run without END counts as lost after so long without an event, or `never`. Default: 7d. */
  lostAfter?: string;
}

/** The `spec` of an `Automation`, checked and complete. */
export interface AutomationSpec {
  /** A UUID in lower case. */
  automationId: string;
  displayName: string;
  owner: string;
  links: AutomationLink[];
  expect: DeclaredExpectation | undefined;
  alertLabels: Record<string, string>;
  suspend: boolean;
}

/** Expectations as `evaluate` takes them: durations in ms. */
export interface Expectation {
  starts: { kind: 'schedule'; schedule: string; timeZone: string } | { kind: 'every'; everyMs: number } | undefined;
  graceMs: number;
  earlyMs: number;
  maxDurationMs: number | undefined;
  lostAfterMs: number | undefined;
  /** False: a lost run is marked, and not told. */
  tellsLost: boolean;
  failures:
    | { kind: 'consecutive'; consecutive: number }
    | { kind: 'count'; count: number; withinMs: number }
    | { kind: 'rate'; rate: number; of: number }
    | undefined;
}
