import { html, type Html } from '../../html/html.ts';
import type { ShownState } from '../../outcome/execution-state.ts';
import { count } from '../parts/format.ts';
import { stateWords, tookWords } from '../parts/marks.ts';

/** An expected time. */
export interface ExpectedTime {
  at: number;
  /** `met` also for a time whose start is not due yet. */
  result: 'met' | 'missing' | 'late';
}

/** An execution, from its first event on. */
export interface ActualRun {
  at: number;
  /** Null without END. */
  durationMs: number | null;
  state: ShownState;
}

export interface Calendar {
  /** The last moment of the calendar, in ms. */
  to: number;
  days: number;
  timeZone: string;
  expected: readonly ExpectedTime[];
  runs: readonly ActualRun[];
}

const [label, width, pitch, head] = [92, 880, 22, 22];
const dayMs = 86_400_000;
const words = { met: 'Expected', missing: 'Expected, and missing', late: 'Expected, and started late' } as const;

/**
 * A row for each day, the newest at the top, from midnight to midnight in the time zone of the
 * schedule. Outlines are expected times, filled shapes are executions.
 */
export function calendarChart({ to, days, timeZone, expected, runs }: Calendar): Html {
  const zone = new Zone(timeZone);
  const rows = datesUpTo(zone.placeOf(to).date, days);
  const height = head + rows.length * pitch;
  const place = (at: number): { x: number; y: number } | undefined => {
    const { date, share } = zone.placeOf(at);
    const row = rows.indexOf(date);
    return row === -1 ? undefined : { x: label + share * width, y: head + row * pitch + pitch / 2 };
  };
  const missed = expected.filter(({ result }) => result === 'missing').length;
  const summary = `${count(expected.length, 'expected time')}, ${missed} missing; ${count(runs.length, 'execution')}`;
  return html`<div class="calendar" role="region" aria-label="Calendar" tabindex="0">
    <svg viewBox="0 0 ${label + width + 26} ${height}" role="img" aria-label="${summary}, in ${count(days, 'day')}">
      ${[0, 6, 12, 18, 24].map((hour) => {
        const x = label + (hour / 24) * width;
        return html`<path class="grid" d="M${x} ${head - 4}V${height}" /><text x="${x}" y="12" text-anchor="middle"
            >${String(hour).padStart(2, '0')}:00</text
          >`;
      })}
      ${rows.map((date, row) => html`<text x="0" y="${head + row * pitch + pitch / 2 + 4}">${date}</text>`)}
      ${expected.map((time) => expectedMark(time, place(time.at)))} ${runs.map((run) => runMark(run, place(run.at)))}
    </svg>
  </div>`;
}

/** So many dates up to the last one. A day of 23 or 25 hours counts as any other. */
function datesUpTo(last: string, days: number): string[] {
  return Array.from({ length: days }, (_, back) =>
    new Date(Date.parse(last) - back * dayMs).toISOString().slice(0, 10),
  );
}

type Place = { x: number; y: number } | undefined;

function expectedMark({ at, result }: ExpectedTime, place: Place): Html | false {
  if (place === undefined) return false;
  const { x, y } = place;
  const title = html`<title>${words[result]}: ${textOf(at)}</title>`;
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

function runMark({ at, durationMs, state }: ActualRun, place: Place): Html | false {
  if (place === undefined) return false;
  const { x, y } = place;
  const long = Math.min(label + width - x, ((durationMs ?? 0) / dayMs) * width);
  return html`<g class="run ${state}"
    ><title>${stateWords[state]}, ${tookWords(durationMs, state)}: ${textOf(at)}</title
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

function textOf(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** Days and times of day in a time zone. */
class Zone {
  readonly #format: Intl.DateTimeFormat;

  constructor(timeZone: string) {
    const digits = '2-digit';
    this.#format = new Intl.DateTimeFormat('en-CA', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: digits,
      day: digits,
      hour: digits,
      minute: digits,
    });
  }

  /** The date, and the share of the day that has passed. */
  placeOf(at: number): { date: string; share: number } {
    const parts = Object.fromEntries(this.#format.formatToParts(at).map(({ type, value }) => [type, value]));
    const minutes = Number(parts['hour']) * 60 + Number(parts['minute']);
    return { date: `${parts['year']}-${parts['month']}-${parts['day']}`, share: minutes / 1_440 };
  }
}
