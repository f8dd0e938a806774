/** A link that people see beside an automation. */
export interface AutomationLink {
  title: string;
  url: string;
}

/** When an automation counts as failing. */
export type DeclaredFailures =
  | { consecutive: number }
  /** At least `count` failed runs within a duration. */
  | { count: number; within: string }
  /** At least `rate` percent of the last `of` runs. */
  | { rate: number; of: number }
  /** No failure raises an alert, whatever the organization's default. */
  | { never: true };

/** Expectations as people declare them; durations are texts such as `1h30m`. */
export interface DeclaredExpectation {
  /** A cron expression of five fields. */
  schedule?: string;
  /** Maximum time between two starts. */
  every?: string;
  /** An IANA time zone. Default: UTC. */
  timeZone?: string;
  /** How late a start may be. Default: 10m, or half the shortest interval if that is less. */
  grace?: string;
  /** How early a start may be and still count: at most half the interval. Default: 5m. */
  early?: string;
  /** Maximum duration of a run. */
  maxDuration?: string;
  failures?: DeclaredFailures;
  /**
   * How long a run without an END may be silent before it counts as lost, or `never`. Default: 7d.
   */
  lostAfter?: string;
}

/** The `spec` of an `Automation`, checked and complete. */
export interface AutomationSpec {
  /** A UUID in lower case. */
  automationId: string;
  displayName: string;
  owner: string;
  /** Words to find and choose it by, as declared. */
  tags: string[];
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
  /** If false, a lost run is marked but raises no alert. */
  tellsLost: boolean;
  failures:
    | { kind: 'consecutive'; consecutive: number }
    | { kind: 'count'; count: number; withinMs: number }
    | { kind: 'rate'; rate: number; of: number }
    | undefined;
}
