import type { DeclaredExpectation } from '../../expectation/automation.ts';
import { expectationOf } from '../../expectation/read-expectation.ts';
import { Schedule } from '../../expectation/schedule.ts';
import { Zone } from '../../expectation/zone.ts';
import { html, type Html } from '../../kit/html/html.ts';
import type { Alert } from '../../record/alert.ts';
import type { Declaration } from '../../record/declaration.ts';
import { calendarChart, datesUpTo, type ExpectedTime } from '../charts/calendar-chart.ts';
import type { Console, Visit } from '../visit.ts';

/** Days of the calendar, and the maximum number of its executions and of its expected times. */
const days = 14;
const mostRuns = 500;
const mostTimes = 400;
const dayMs = 86_400_000;

/** Expected times and executions of the last 14 whole days, and of tomorrow. */
export async function calendar(
  { automation, expect, declared_at }: Declaration,
  alerts: readonly Alert[],
  { organization, now, zone }: Visit,
  { record }: Console,
): Promise<Html> {
  const next = nextStart(expect, now);
  // Tomorrow gets a row if the next expected time is within a day but not today.
  const isTomorrow = next !== undefined && next < now + dayMs && zone.date(next) !== zone.date(now);
  const wanted = datesUpTo(zone.date(isTomorrow ? next : now), days + (isTomorrow ? 1 : 0));
  const from = new Date(zone.startOf(wanted.at(-1) ?? zone.date(now)));
  const { items, next: isCut } = await record.listExecutions(
    organization,
    { automationId: automation, from },
    { limit: mostRuns },
  );
  // A day with only some of its runs read would look as if nothing ran before them.
  const oldest = items.at(-1);
  const dates =
    isCut === undefined || oldest === undefined
      ? wanted
      : wanted.filter((date) => date > zone.date(Date.parse(oldest.first_event_at)));
  const expected = expectedTimes(expect, Math.max(from.getTime(), Date.parse(declared_at)), now, alerts);
  const runs = items.map(({ first_event_at, duration_ms, state }) => ({
    at: Date.parse(first_event_at),
    durationMs: duration_ms,
    state,
  }));
  return html`<section class="card" aria-labelledby="calendar-title">
    <header>
      <h2 id="calendar-title">Expected and actual runs</h2>
      <span class="quiet">outlines are expected times, a cross is a missing run; days of ${zone.name}</span>
    </header>
    ${calendarChart({ dates, zone, expected, runs })}
  </section>`;
}

/** When the schedule expects the next start, in ms; undefined without a schedule. */
export function nextStart(expect: DeclaredExpectation | null, now: number): number | undefined {
  if (expect?.schedule === undefined) return undefined;
  return new Schedule(expect.schedule, new Zone(expect.timeZone ?? 'UTC')).after(now);
}

/** All expected times or, if there are too many, only the newest unmet ones and the next one. */
function expectedTimes(
  expect: DeclaredExpectation | null,
  from: number,
  now: number,
  alerts: readonly Alert[],
): ExpectedTime[] {
  if (expect?.schedule === undefined) return [];
  const schedule = new Schedule(expect.schedule, new Zone(expect.timeZone ?? 'UTC'));
  const wrong = unmetTimes(schedule, expectationOf(expect).graceMs, { from, now, alerts });
  const times: ExpectedTime[] = [];
  for (let at = schedule.after(from); at !== undefined && at <= now + dayMs; at = schedule.after(at)) {
    if (times.length === mostTimes) {
      const next = schedule.after(now);
      const unmet = [...wrong].map(([time, result]): ExpectedTime => ({ at: time, result }));
      return next === undefined ? unmet : [...unmet, { at: next, result: 'next' }];
    }
    times.push({ at, result: at > now ? 'next' : (wrong.get(at) ?? 'met') });
  }
  return times;
}

interface Judged {
  from: number;
  now: number;
  /** The newest first. */
  alerts: readonly Alert[];
}

/** An outage is one alert: its occurrence is the first missing time, and later ones count too. */
function unmetTimes(
  schedule: Schedule,
  graceMs: number,
  { from, now, alerts }: Judged,
): Map<number, 'missing' | 'late'> {
  const wrong = new Map<number, 'missing' | 'late'>();
  for (const { kind, occurrence, resolved_at } of alerts) {
    const first = Date.parse(occurrence);
    if (kind === 'late') wrong.set(first, kind);
    if (kind !== 'missing') continue;
    if (!wrong.has(first)) wrong.set(first, kind);
    const end = resolved_at === null ? now : Date.parse(resolved_at);
    let at = schedule.upTo(end - graceMs);
    while (at !== undefined && at > Math.max(first, from) && wrong.size < mostTimes) {
      if (!wrong.has(at)) wrong.set(at, kind);
      at = schedule.upTo(at - 1);
    }
  }
  return wrong;
}
