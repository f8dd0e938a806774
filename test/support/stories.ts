import { evaluate, type Evaluation } from '../../internal/expectation/evaluate.ts';
import type { History, Run, RuleTimes } from '../../internal/expectation/history.ts';
import { expectationOf } from '../../internal/expectation/read-expectation.ts';
import { Schedules } from '../../internal/expectation/schedules.ts';

export const schedules = new Schedules();

/** A time of 25 November 2026, UTC. */
export function at(time: string): number {
  return Date.parse(`2026-11-25T${time}Z`);
}

/**
 * `a 02:31 02:50`, `b 02:31 failed 02:40`, `b 02:31 error 02:40` for one without END after it,
 * `c 02:31` for one that runs, `d? 02:31` without START, `e! 02:31` for a Job made by hand,
 * `f@02:30 02:31` for one of a schedule, `g*4 02:31` for an id with four STARTs.
 */
export function run(text: string): Run {
  const [name = '', start = '', end, error] = text.split(' ');
  const [, executionId = '', mark, more = ''] = /^([^?!@*]+)([?!@*]?)(.*)$/.exec(name) ?? [];
  const [failedAt, endedAt] = [
    error === undefined ? undefined : at(error),
    end === undefined || end === 'error' ? undefined : at(end === 'failed' ? (error ?? '') : end),
  ];
  return {
    executionId,
    startedAt: at(start),
    lacksStart: mark === '?',
    failedAt,
    endedAt,
    lastEventAt: endedAt ?? failedAt ?? at(mark === '*' ? '23:59' : start),
    startCount: mark === '*' ? Number(more) : 1,
    scheduledFor: mark === '!' ? 'byHand' : mark === '@' ? at(more) : undefined,
  };
}

/** The times of rules that were declared at once. */
export function since(time: number): RuleTimes {
  return { starts: time, maxDuration: time, failures: time, lost: time };
}

export interface Story extends Partial<Omit<History, 'runs' | 'declaredAt'>> {
  expect: object;
  declaredAt?: number | RuleTimes;
  runs?: string[];
  at: string;
}

export function evaluated({ expect: declared, runs = [], at: watermark, ...history }: Story): Evaluation {
  const { declaredAt = at('00:00') } = history;
  const rules = typeof declaredAt === 'number' ? since(declaredAt) : declaredAt;
  const known = {
    gaps: [],
    hasOlderRuns: false,
    ...history,
    declaredAt: rules,
    runs: runs.map(run),
  };
  return evaluate(expectationOf(declared, { silent: true }), known, at(watermark), schedules);
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
