import type { Declaration } from '../record/declaration.ts';
import type { AutomationRuns, Run } from '../record/newest-runs.ts';

/** The health of an automation, from its newest runs. */
export interface Health extends AutomationRuns {
  last: Run;
  /** Consecutive failures up to the newest run that ended; 0 if that one succeeded. */
  failuresInARow: number;
  /** When the oldest of them started; undefined if there are none. */
  failingSince: string | undefined;
  failed: number;
  /** Percentiles of the durations in ms; undefined if no run ended. */
  p50: number | undefined;
  p95: number | undefined;
}

/** The health of each automation that has runs. */
export function healthOf({ automation, runs }: AutomationRuns): Health[] {
  const [last] = runs;
  if (last === undefined) return [];
  const ended = runs.filter(({ state }) => state === 'succeeded' || state === 'failed');
  const firstSuccess = ended.findIndex(({ state }) => state === 'succeeded');
  const failuresInARow = firstSuccess === -1 ? ended.length : firstSuccess;
  const durations = runs.flatMap(({ duration_ms }) => duration_ms ?? []).sort((a, b) => a - b);
  return [
    {
      automation,
      runs,
      last,
      failuresInARow,
      failingSince: ended[failuresInARow - 1]?.first_event_at,
      failed: runs.filter(({ state }) => state === 'failed').length,
      p50: percentile(durations, 0.5),
      p95: percentile(durations, 0.95),
    },
  ];
}

/** An automation with runs, with a declaration, or with both. */
export interface AutomationView {
  automation: string;
  declaration: Declaration | undefined;
  health: Health | undefined;
}

/** Joins automations that have runs with those that are declared. */
export function automationViews(runs: readonly Health[], declared: readonly Declaration[]): AutomationView[] {
  const healths = new Map(runs.map((health) => [health.automation, health]));
  const declarations = new Map(declared.map((declaration) => [declaration.automation, declaration]));
  return [...new Set([...healths.keys(), ...declarations.keys()])].map((automation) => ({
    automation,
    declaration: declarations.get(automation),
    health: healths.get(automation),
  }));
}

/** Interpolates between two values, as Postgres does (`percentile_cont`). */
export function percentile(sorted: readonly number[], share: number): number | undefined {
  const place = share * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
  return low === undefined || high === undefined ? undefined : low + (high - low) * (place % 1);
}
