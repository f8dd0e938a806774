import type { Expectation } from '../../expectation/automation.ts';
import type { Run } from '../../expectation/history.ts';
import type { DueAutomation } from './due-automations.ts';

/**
 * The last two starts of an automation, oldest first, in ms since the Unix epoch. Its row keeps
 * them, because retention may delete its last run before the next one is expected.
 */
export type LastStarts = readonly number[];

/** The starts that the row keeps. */
export function keptStarts({ start_before, last_start }: DueAutomation): LastStarts {
  return [start_before, last_start].flatMap((at) => (at === null ? [] : [at.getTime()]));
}

/** The kept starts before all of the recorded runs, followed by the starts of these. */
export function lastStarts(kept: LastStarts, runs: readonly Run[], starts: Expectation['starts']): LastStarts {
  const recorded = runs.flatMap((run) => startOf(run, starts) ?? []).toSorted((a, b) => a - b);
  return [...startsBefore(kept, recorded), ...recorded].slice(-2);
}

/** The last start before all of the recorded runs. */
export function startBefore(kept: LastStarts, runs: readonly Run[], starts: Expectation['starts']): number | undefined {
  return startsBefore(
    kept,
    runs.flatMap((run) => startOf(run, starts) ?? []),
  ).at(-1);
}

function startsBefore(kept: LastStarts, recorded: readonly number[]): LastStarts {
  const first = Math.min(...recorded);
  return kept.filter((at) => at < first);
}

/** The time that a run counts for: none if it was made by hand, or that of a Job's schedule. */
function startOf({ scheduledFor, startedAt }: Run, starts: Expectation['starts']): number | undefined {
  if (scheduledFor === 'byHand') return undefined;
  return starts?.kind === 'schedule' ? (scheduledFor ?? startedAt) : startedAt;
}
