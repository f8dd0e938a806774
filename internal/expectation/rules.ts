import type { DeclaredExpectation, Expectation } from './automation.ts';
import { meaningOfCron } from './cron.ts';
import type { RuleTimes } from './history.ts';
import { expectationOf } from './read-expectation.ts';

/** The rules of an expectation. Each has its own time from which it holds. */
export const ruleNames = ['starts', 'maxDuration', 'failures', 'lost'] as const;
export type RuleName = (typeof ruleNames)[number];

/** What each declared rule means, and since when it holds, in ms since the Unix epoch. */
export type Rules = Partial<Record<RuleName, { means: string; since: number }>>;

/**
 * The rules of a changed declaration. A rule keeps its time while its meaning stays the same: `60m`
 * is `1h`, and other rules do not matter. `grace` and `early` change no time: they decide how a
 * start is judged, not which starts are expected. `before`: undefined for a new declaration and
 * after a suspension.
 */
export function changedRules(
  expect: DeclaredExpectation | null | undefined,
  before: Rules | undefined,
  now: number,
): Rules {
  const expectation = expectationOf(expect ?? {});
  const rules: Rules = {};
  for (const name of ruleNames) {
    const means = meaningOf(name, expectation);
    if (means === undefined) continue;
    const known = before?.[name];
    rules[name] = known?.means === means ? known : { means, since: now };
  }
  return rules;
}

/** Since when each rule holds; `otherwise` is the time for a rule that is not declared. */
export function timesOf(rules: Rules, otherwise: number): RuleTimes {
  const since = (name: RuleName) => rules[name]?.since ?? otherwise;
  return {
    starts: since('starts'),
    maxDuration: since('maxDuration'),
    failures: since('failures'),
    lost: since('lost'),
  };
}

function meaningOf(name: RuleName, { starts, maxDurationMs, failures, lostAfterMs }: Expectation): string | undefined {
  if (name === 'maxDuration') return maxDurationMs?.toString();
  if (name === 'lost') return lostAfterMs?.toString();
  if (name === 'failures') return failures && JSON.stringify(failures);
  if (starts?.kind === 'schedule') return `${meaningOfCron(starts.schedule)} ${starts.timeZone}`;
  return starts && `every ${starts.everyMs}`;
}
