import type { DeclaredExpectation, DeclaredFailures } from './automation.ts';
import { describeDuration, readDuration } from './duration.ts';
import { expectationOf } from './read-expectation.ts';

/** What is expected of an automation, in phrases for people; empty without expectations. */
export function describeExpectation(expect: DeclaredExpectation | null | undefined): string[] {
  if (expect === null || expect === undefined) return [];
  const { schedule, every, timeZone = 'UTC', early, maxDuration, failures, lostAfter } = expect;
  const late = `at most ${describeDuration(expectationOf(expect).graceMs)} late`;
  return [
    ...(schedule === undefined
      ? []
      : [`starts at ${schedule} (${timeZone}), ${late}${early === undefined ? '' : ` or ${spoken(early)} early`}`]),
    ...(every === undefined ? [] : [`starts every ${spoken(every)}, ${late}`]),
    ...(maxDuration === undefined ? [] : [`each run ends within ${spoken(maxDuration)}`]),
    ...(lostAfter === undefined || lostAfter === 'never'
      ? []
      : [`no run is lost: silent for ${spoken(lostAfter)} without an END`]),
    ...(failures === undefined ? [] : [describeFailures(failures)]),
  ];
}

function describeFailures(failures: DeclaredFailures): string {
  if ('never' in failures) return 'runs may fail';
  if ('consecutive' in failures) {
    return failures.consecutive === 1 ? 'no run fails' : `fewer than ${failures.consecutive} runs fail in a row`;
  }
  if ('count' in failures) return `fewer than ${failures.count} runs fail within ${spoken(failures.within)}`;
  return `fewer than ${failures.rate} % of the last ${failures.of} runs fail`;
}

/** A declared duration in words. */
function spoken(text: string): string {
  const ms = readDuration(text);
  return ms === undefined ? text : describeDuration(ms);
}
