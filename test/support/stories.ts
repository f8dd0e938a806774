import { evaluate, type Evaluation } from '../../internal/expectation/evaluate.ts';
import type { History } from '../../internal/expectation/history.ts';
import { expectationOf } from '../../internal/expectation/read-expectation.ts';
import { Schedules } from '../../internal/expectation/schedules.ts';

export const schedules = new Schedules();

/** A time of 25 November 2026, UTC. */
export function at(time: string): number {
  return Date.parse(`2026-11-25T${time}Z`);
}

/**
 * `a 02:31 02:50`, `b 02:31 failed 02:40`, `c 02:31` for one that runs, `d? 02:31` without START.
 */
export function run(text: string) {
  const [executionId = '', start = '', end, failedAt] = text.split(' ');
  const failed = end === 'failed';
  const finish = failed ? failedAt : end;
  const lacksStart = executionId.endsWith('?');
  const finishedAt = finish === undefined ? undefined : at(finish);
  return { executionId, startedAt: at(start), lacksStart, finishedAt, failed };
}

export interface Story extends Partial<Omit<History, 'runs'>> {
  expect: object;
  runs?: string[];
  at: string;
}

export function evaluated({ expect: declared, runs = [], at: watermark, ...history }: Story): Evaluation {
  const known = { declaredAt: at('00:00'), gaps: [], hasOlderRuns: false, ...history, runs: runs.map(run) };
  return evaluate(expectationOf(declared), known, at(watermark), schedules);
}

/** `missing 02:40–` for each finding, and `=` before those that hold. */
export function told(story: Story): string[] {
  const { findings, verdicts } = evaluated(story);
  const time = (ms: number | undefined) => (ms === undefined ? '' : new Date(ms).toISOString().slice(11, 16));
  return findings.map(({ kind, from, until, occurrence }) => {
    const holds = verdicts.some((verdict) => verdict.kind === kind && verdict.occurrence === occurrence);
    return `${holds ? '= ' : ''}${kind} ${time(from)}–${time(until)}`;
  });
}
