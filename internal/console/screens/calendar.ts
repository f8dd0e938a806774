import type { DeclaredExpectation } from '../../expectation/automation.ts';
import { Schedule } from '../../expectation/schedule.ts';
import { Zone } from '../../expectation/zone.ts';
import { html, type Html } from '../../html/html.ts';
import type { Alert } from '../../record/alert.ts';
import type { Declaration } from '../../record/declaration.ts';
import { calendarChart, type ExpectedTime } from '../charts/calendar-chart.ts';
import type { Console, Visit } from '../visit.ts';

/** Days of the calendar, and most of its executions and expected times. */
const days = 14;
const mostRuns = 500;
const mostTimes = 400;
const dayMs = 86_400_000;

/** Expected times and executions of the last two weeks, and of the day to come. */
export async function calendar(
  { automation, expect, declared_at }: Declaration,
  alerts: readonly Alert[],
  { organization, now }: Visit,
  { record }: Console,
): Promise<Html> {
  const from = now - (days - 1) * dayMs;
  const { items } = await record.listExecutions(
    organization,
    { automationId: automation, from: new Date(from) },
    { limit: mostRuns },
  );
  const timeZone = expect?.timeZone ?? 'UTC';
  const expected = expectedTimes(expect, Math.max(from, Date.parse(declared_at)), now, alerts);
  const runs = items.map(({ first_event_at, duration_ms, state }) => ({
    at: Date.parse(first_event_at),
    durationMs: duration_ms,
    state,
  }));
  return html`<section class="card" aria-labelledby="calendar-title">
    <header>
      <h2 id="calendar-title">Expected and actual runs</h2>
      <span class="quiet">outlines are expected times in ${timeZone}, a cross is a missing run</span>
    </header>
    ${calendarChart({ to: now, days, timeZone, expected, runs })}
  </section>`;
}

/** With very many times only those that were not met. */
function expectedTimes(
  expect: DeclaredExpectation | null,
  from: number,
  to: number,
  alerts: readonly Alert[],
): ExpectedTime[] {
  if (expect?.schedule === undefined) return [];
  const schedule = new Schedule(expect.schedule, new Zone(expect.timeZone ?? 'UTC'));
  const wrong = new Map<number, 'missing' | 'late'>();
  for (const { kind, occurrence } of alerts) {
    if (kind === 'missing' && !wrong.has(Date.parse(occurrence))) wrong.set(Date.parse(occurrence), kind);
    if (kind === 'late') wrong.set(Date.parse(occurrence), kind);
  }
  const times: ExpectedTime[] = [];
  for (let at = schedule.after(from); at !== undefined && at <= to + dayMs; at = schedule.after(at)) {
    if (times.length === mostTimes) return [...wrong].map(([time, result]) => ({ at: time, result }));
    times.push({ at, result: wrong.get(at) ?? 'met' });
  }
  return times;
}
