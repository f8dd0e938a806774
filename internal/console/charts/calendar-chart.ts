import { html, type Html } from '../../kit/html/html.ts';
import type { ShownState } from '../../event/outcome/execution-state.ts';
import type { PageZone } from '../page-zone.ts';
import { count } from '../parts/format.ts';
import { stateWords, tookWords } from '../parts/marks.ts';

/** An expected time. */
export interface ExpectedTime {
  at: number;
  /** `next` for times in the future. */
  result: 'met' | 'missing' | 'late' | 'next';
}

/** An execution, from its first event. */
export interface ActualRun {
  at: number;
  /** Null without an END. */
  durationMs: number | null;
  state: ShownState;
}

export interface Calendar {
  /** The days of the calendar, the newest first, such as `2026-01-31`. */
  dates: readonly string[];
  zone: PageZone;
  expected: readonly ExpectedTime[];
  runs: readonly ActualRun[];
}

const [label, width, pitch, head] = [92, 880, 22, 22];
const dayMs = 86_400_000;
const words = {
  met: 'Expected',
  missing: 'Expected, and missing',
  late: 'Expected, and started late',
  next: 'Expected next',
} as const;

/**
 * One row per day, newest at the top, from midnight to midnight in the zone of the page. Outlines
 * are expected times; filled shapes are executions.
 */
export function calendarChart({ dates: rows, zone, expected, runs }: Calendar): Html {
  const height = head + rows.length * pitch;
  const place = (at: number): { x: number; y: number } | undefined => {
    const row = rows.indexOf(zone.date(at));
    return row === -1 ? undefined : { x: label + zone.shareOfDay(at) * width, y: head + row * pitch + pitch / 2 };
  };
  const missed = expected.filter(({ result }) => result === 'missing').length;
  const summary = `${count(expected.length, 'expected time')}, ${missed} missing; ${count(runs.length, 'execution')}`;
  return html`<div class="calendar" role="region" aria-label="Calendar" tabindex="0">
    <svg
      viewBox="0 0 ${label + width + 26} ${height}"
      role="img"
      aria-label="${summary}, in ${count(rows.length, 'day')}"
    >
      ${[0, 6, 12, 18, 24].map((hour) => {
        const x = label + (hour / 24) * width;
        return html`<path class="grid" d="M${x} ${head - 4}V${height}" /><text x="${x}" y="12" text-anchor="middle"
            >${String(hour).padStart(2, '0')}:00</text
          >`;
      })}
      ${rows.map((date, row) => html`<text x="0" y="${head + row * pitch + pitch / 2 + 4}">${date}</text>`)}
      ${expected.map((time) => expectedMark(time, place(time.at), zone))}
      ${runs.map((run) => runMark(run, place(run.at), zone))}
    </svg>
  </div>`;
}

/** The last `days` dates up to `last`, newest first. A day of 23 or 25 hours counts as one. */
export function datesUpTo(last: string, days: number): string[] {
  return Array.from({ length: days }, (_, back) =>
    new Date(Date.parse(last) - back * dayMs).toISOString().slice(0, 10),
  );
}

type Place = { x: number; y: number } | undefined;

function expectedMark({ at, result }: ExpectedTime, place: Place, zone: PageZone): Html | false {
  if (place === undefined) return false;
  const { x, y } = place;
  const title = html`<title>${words[result]}: ${zone.second(at)}</title>`;
  const cross = html`<path d="M${(x - 3).toFixed(1)} ${y - 3}l6 6m0-6l-6 6" />`;
  return html`<g class="expected ${result}"
    >${title}<rect
      x="${(x - 6).toFixed(1)}"
      y="${y - 8}"
      width="12"
      height="16"
      rx="3"
    />${result === 'missing' && cross}</g
  >`;
}

function runMark({ at, durationMs, state }: ActualRun, place: Place, zone: PageZone): Html | false {
  if (place === undefined) return false;
  const { x, y } = place;
  const long = Math.min(label + width - x, ((durationMs ?? 0) / dayMs) * width);
  return html`<g class="run ${state}"
    ><title>${stateWords[state]}, ${tookWords(durationMs, state)}: ${zone.second(at)}</title
    >${long > 4 && html`<rect x="${x.toFixed(1)}" y="${y - 2}" width="${long.toFixed(1)}" height="4" rx="2" />`}${shapeOf(state, x, y)}</g
  >`;
}

function shapeOf(state: ShownState, x: number, y: number): Html {
  if (state === 'failed') return html`<path d="M${x.toFixed(1)} ${y - 5}l5 5-5 5-5-5z" />`;
  return html`<circle
    class="${(state === 'running' || state === 'lost') && 'open'}"
    cx="${x.toFixed(1)}"
    cy="${y}"
    r="3.5"
  />`;
}
