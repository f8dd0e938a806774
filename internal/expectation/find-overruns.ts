import { gapWithin } from './history.ts';
import { describeOverrun, describeUnknownEnd, type LongRun } from './sentences.ts';
import { zoneOf } from './start-rule.ts';
import type { Part, Question } from './question.ts';
import type { Finding } from './verdict.ts';

/**
 * A run that has not ended so long after it should have, in ms, counts as abandoned: otherwise the
 * alert of a run that crashed without an END would never resolve.
 */
export const abandonedAfterMs = 86_400_000;

/** Finds runs that take longer than they may: each of several at once. */
export function findOverruns(question: Question): Part {
  const { expectation, history, watermark } = question;
  const { maxDurationMs } = expectation;
  const part: Part = { findings: [], nextAt: Infinity };
  if (maxDurationMs === undefined) return part;
  for (const run of [...(history.longRuns ?? []), ...history.runs]) {
    const deadline = run.startedAt + maxDurationMs;
    const end = Math.min(run.finishedAt ?? Infinity, deadline + abandonedAfterMs);
    if (run.startedAt < history.declaredAt || end <= deadline) continue;
    if (deadline <= watermark) part.findings.push(overrun(question, { run, maxDurationMs, end }));
    const next = deadline > watermark ? deadline : end;
    if (next > watermark) part.nextAt = Math.min(part.nextAt, next);
  }
  return part;
}

/** `end` is known already, or the time from which on the run counts as abandoned. */
function overrun({ expectation, history, watermark, schedules }: Question, long: LongRun): Finding {
  const { run, maxDurationMs, end } = long;
  const zone = zoneOf(expectation, schedules);
  const from = run.startedAt + maxDurationMs;
  // A caller may have sent the END in the gap, and again after it.
  const gap = gapWithin(history.gaps, run.startedAt, from);
  return {
    kind: gap === undefined ? 'overrunning' : 'unknown',
    occurrence: run.executionId,
    ...(gap === undefined ? describeOverrun(zone, long) : describeUnknownEnd(zone, long, gap)),
    from,
    until: run.finishedAt === undefined && end > watermark ? undefined : end,
  };
}
