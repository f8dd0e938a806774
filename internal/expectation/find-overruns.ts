import { gapWithin, isTold } from './history.ts';
import { describeOverrun, describeUnknownEnd, type LongRun } from './sentences.ts';
import { zoneOf } from './start-rule.ts';
import type { Part, Question } from './question.ts';
import type { Finding } from './verdict.ts';

/**
 * Finds runs that take longer than allowed: each one separately, until its END. An ERROR does not
 * end a run, which may hang after it.
 */
export function findOverruns(question: Question): Part {
  const { expectation, history, watermark } = question;
  const { maxDurationMs } = expectation;
  const part: Part = { findings: [], nextAt: Infinity };
  if (maxDurationMs === undefined) return part;
  for (const run of [...(history.otherRuns ?? []), ...history.runs]) {
    const deadline = run.startedAt + maxDurationMs;
    const end = run.endedAt ?? Infinity;
    const holds = run.startedAt >= history.declaredAt.maxDuration || isTold(history, 'overrunning', run.executionId);
    if (!holds || end <= deadline) continue;
    if (deadline <= watermark) part.findings.push(overrun(question, { run, maxDurationMs }));
    const next = deadline > watermark ? deadline : end;
    if (next > watermark) part.nextAt = Math.min(part.nextAt, next);
  }
  return part;
}

function overrun({ expectation, history, schedules }: Question, long: LongRun): Finding {
  const { run, maxDurationMs } = long;
  const zone = zoneOf(expectation, schedules);
  const from = run.startedAt + maxDurationMs;
  // The producer may have sent an END in the gap, and another one after it.
  const gap = gapWithin(history.gaps, run.startedAt, from);
  return {
    kind: gap === undefined ? 'overrunning' : 'unknown',
    occurrence: run.executionId,
    ...(gap === undefined ? describeOverrun(zone, long) : describeUnknownEnd(zone, long, gap)),
    from,
    until: run.endedAt,
    acceptedAt: run.endAcceptedAt,
    ...(gap !== undefined && { toldFrom: Infinity }),
  };
}
