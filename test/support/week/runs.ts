import { Schedules } from '../../../internal/expectation/schedules.ts';
import type { Random } from '../fault/random.ts';

const minuteMs = 60_000;

/** Far from each limit by more than a clock may step. */
export const graceMs = 10 * minuteMs;
export const maxDurationMs = 30 * minuteMs;

/** What truly happens at an expected time; times in ms since the Unix epoch. */
export interface TrueRun {
  automationId: string;
  executionId: string;
  expectedAt: number;
  /** Undefined: no run starts. */
  startsAt: number | undefined;
  endsAt: number;
  failed: boolean;
}

/** Hourly and daily automations; most runs are well, some are missing, late, long or fail. */
export function planRuns(random: Random, automations: readonly Planned[], from: number, until: number): TrueRun[] {
  const schedules = new Schedules();
  return automations.flatMap(({ automationId, schedule, timeZone }) => {
    const times = schedules.get(schedule, timeZone);
    const runs: TrueRun[] = [];
    for (let expectedAt = times.after(from); expectedAt !== undefined && expectedAt < until;) {
      const lot = random.next();
      const late = lot < 0.1;
      const startsAt = expectedAt + (late ? random.int(18, 22) * minuteMs : random.int(0, 180) * 1_000);
      const lasts = lot > 0.93 ? random.int(40, 48) * minuteMs : random.int(10, 1_200) * 1_000;
      runs.push({
        automationId,
        executionId: `${automationId.slice(-2)}-${new Date(expectedAt).toISOString()}`,
        expectedAt,
        startsAt: lot >= 0.1 && lot < 0.2 ? undefined : startsAt,
        endsAt: startsAt + lasts,
        failed: random.chance(0.1),
      });
      expectedAt = times.after(expectedAt);
    }
    return runs;
  });
}

export interface Planned {
  automationId: string;
  schedule: string;
  timeZone: string;
}
