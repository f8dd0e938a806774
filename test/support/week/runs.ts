import type { Random } from '../fault/random.ts';
import { expectedTimes, type OwnersRules } from './owner.ts';

const minuteMs = 60_000;

/** Far from each limit by more than a clock may step. */
export const graceMs = 10 * minuteMs;
export const maxDurationMs = 30 * minuteMs;

/** What truly happens; times in ms since the Unix epoch. */
export interface TrueRun {
  automationId: string;
  executionId: string;
  startsAt: number;
  /** When it fails, if it does. */
  failsAt: number | undefined;
  /** Undefined: it hangs, and never ends. */
  endsAt: number | undefined;
  /** A Job that somebody made by hand. */
  byHand: boolean;
}

export interface Planned extends OwnersRules {
  automationId: string;
}

/**
 * Hourly and daily automations. Most runs are well; some are missing, late, long, fail, fail and
 * hang, hang, or use the id of another run. People start runs by hand, which overlap the others.
 */
export function planRuns(random: Random, automations: readonly Planned[], from: number, until: number): TrueRun[] {
  return automations.flatMap((automation) => {
    const { automationId } = automation;
    const runs: TrueRun[] = [];
    for (const expectedAt of expectedTimes(automation, from, until)) {
      const name = `${automationId.slice(-2)}-${new Date(expectedAt).toISOString()}`;
      const lot = random.next();
      const late = lot < 0.1;
      const startsAt = expectedAt + (late ? random.int(18, 22) * minuteMs : random.int(0, 180) * 1_000);
      const lasts = lot > 0.93 ? random.int(40, 48) * minuteMs : random.int(10, 1_200) * 1_000;
      const reused = random.chance(0.03) ? runs.findLast(({ byHand }) => !byHand)?.executionId : undefined;
      const one = runOf(random, { automationId, executionId: reused ?? name, startsAt, lasts });
      if (lot < 0.1 || lot >= 0.2) runs.push(one);
      if (random.chance(0.1)) {
        const byHandAt = expectedAt + random.int(25, 40) * minuteMs;
        const byHand = runOf(random, {
          automationId,
          executionId: `${name} by hand`,
          startsAt: byHandAt,
          lasts: random.int(1, 29) * minuteMs,
        });
        runs.push({ ...byHand, byHand: random.chance(0.5) });
      }
    }
    return runs;
  });
}

function runOf(
  random: Random,
  { lasts, ...run }: Pick<TrueRun, 'automationId' | 'executionId' | 'startsAt'> & { lasts: number },
): TrueRun {
  const failed = random.chance(0.1);
  const hangs = random.chance(0.02);
  const endsAt = run.startsAt + lasts;
  return { ...run, failsAt: failed ? endsAt - 1_000 : undefined, endsAt: hangs ? undefined : endsAt, byHand: false };
}
