import { isTold } from './history.ts';
import { describeLost } from './sentences.ts';
import { zoneOf } from './start-rule.ts';
import type { Part, Question } from './question.ts';

/**
 * Finds runs that have neither ended nor failed, and have been silent for so long that nobody
 * expects their END. A gap in the record does not matter: the verdict says what the record has.
 */
export function findLost({ expectation, history, watermark, schedules }: Question): Part {
  const { lostAfterMs, tellsLost } = expectation;
  const part: Part = { findings: [], nextAt: Infinity };
  if (lostAfterMs === undefined) return part;
  const zone = zoneOf(expectation, schedules);
  for (const run of [...(history.otherRuns ?? []), ...history.runs]) {
    if (run.endedAt !== undefined || run.failedAt !== undefined) continue;
    const from = run.lastEventAt + lostAfterMs;
    if (from > watermark) {
      part.nextAt = Math.min(part.nextAt, from);
      continue;
    }
    // Runs that were lost before the rule was declared are marked but raise no alert.
    const isToldNow = tellsLost && (from >= history.declaredAt.lost || isTold(history, 'lost', run.executionId));
    part.findings.push({
      kind: 'lost',
      occurrence: run.executionId,
      ...describeLost(zone, run, lostAfterMs),
      from,
      until: undefined,
      toldFrom: isToldNow ? from : Infinity,
    });
  }
  return part;
}
