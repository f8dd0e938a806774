import { shownTexts, type RecordedTexts } from '../../event/fields.ts';
import type { EventKind } from '../../event/schema.ts';
import { html, markup, type Html } from '../../kit/html/html.ts';
import type { ShownState } from '../../event/outcome/execution-state.ts';
import { formatDuration } from './format.ts';

/** The state of an execution: a shape, a word and a colour. */
export function stateMark(state: ShownState, note = ''): Html {
  return html`<span class="state ${state === 'lost' ? 'failed' : state}"
    >${icon(state === 'lost' ? 'unknown' : state)}<span>${stateWords[state]}${note}</span></span
  >`;
}

export const stateWords: Readonly<Record<ShownState, string>> = {
  running: 'Running',
  succeeded: 'Succeeded',
  failed: 'Failed',
  lost: 'Lost',
};

/** How long an execution took, in words. `durationMs`: null if unknown. */
export function tookWords(durationMs: number | null, state: ShownState): string {
  if (durationMs !== null) return formatDuration(durationMs);
  return state === 'running' || state === 'lost' ? 'no END' : 'no duration';
}

/** The kind of an event: a shape, a word and a colour. */
export function kindMark(kind: EventKind): Html {
  return html`<span class="kind ${kind.toLowerCase()}">${icon(kindIcons[kind])}<span>${kind}</span></span>`;
}

/** The short texts of an event that precede its sentences, such as its `error_id`. */
export function marksOf(event: RecordedTexts): Html[] {
  return shownTexts(event, 'mark').map(
    ({ name, text }) => html`<code class="error-id" title="${name}"><bdi>${text}</bdi></code> `,
  );
}

const kindIcons: Readonly<Record<EventKind, IconName>> = {
  START: 'start',
  EVENT: 'event',
  WARNING: 'warning',
  ERROR: 'failed',
  END: 'end',
};

/** A shape from the sheet in each page. Hidden from screen readers: a word stands beside it. */
export function icon(name: IconName): Html {
  return html`<svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><use href="#i-${name}"></use></svg>`;
}

/** 16 × 16. Each state has its own outline: circle, diamond, broken ring, triangle. */
const shapes = {
  succeeded:
    '<circle cx="8" cy="8" r="6.5" fill="currentColor"/><path d="m5 8.2 2.1 2.1L11 6.2" fill="none" class="hole" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round"/>',
  failed:
    '<path d="M8 .6 15.4 8 8 15.4.6 8z" fill="currentColor"/><path d="M8 4.6v4M8 11v.4" fill="none" class="hole" stroke-width="1.8" stroke-linecap="round"/>',
  running:
    '<circle cx="8" cy="8" r="5.6" fill="none" stroke="currentColor" stroke-width="2.2" stroke-dasharray="8.8 2.93" stroke-linecap="butt"/><circle cx="8" cy="8" r="1.8" fill="currentColor"/>',
  warning:
    '<path d="M8 1.2 15.4 14.4H.6z" fill="currentColor"/><path d="M8 6v3.6M8 12v.3" fill="none" class="hole" stroke-width="1.7" stroke-linecap="round"/>',
  start: '<path d="M4 2.6v10.8L13 8z" fill="currentColor"/>',
  event: '<circle cx="8" cy="8" r="3.4" fill="currentColor"/>',
  end: '<rect x="3" y="3" width="10" height="10" rx="1.5" fill="currentColor"/>',
  overdue:
    '<circle cx="8" cy="8" r="6.2" fill="none" stroke="currentColor" stroke-width="1.8"/><path d="M8 4.4V8l2.4 1.8" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round"/>',
  missing:
    '<circle cx="8" cy="8" r="6.2" fill="none" stroke="currentColor" stroke-width="1.8" stroke-dasharray="3.2 2"/><path d="m5.6 5.6 4.8 4.8m0-4.8-4.8 4.8" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round"/>',
  overrunning:
    '<path d="M3.5 1.5h9M3.5 14.5h9M4.5 1.8v2.4L8 8l3.5-3.8V1.8M4.5 14.2v-2.4L8 8l3.5 3.8v2.4" fill="none" stroke="currentColor" stroke-width="1.7" stroke-linecap="round" stroke-linejoin="round"/>',
  unknown:
    '<path d="M5 5.6a3 3 0 1 1 4.5 2.6C8.500 8.800 8 9.200 8 10.200M8 13.200v.2" fill="none" stroke="currentColor" stroke-width="1.9" stroke-linecap="round"/>',
  muted:
    '<path d="M3.200 11.600h9.600c-1.200-1-1.600-2.400-1.600-4.400a3.200 3.200 0 0 0-6.400 0c0 2-.4 3.400-1.600 4.400zM6.600 13.400a1.500 1.500 0 0 0 2.800 0M2.400 2.400l11.200 11.200" fill="none" stroke="currentColor" stroke-width="1.500" stroke-linecap="round" stroke-linejoin="round"/>',
  copy: '<rect x="5.2" y="5.2" width="8.3" height="8.3" rx="1.6" fill="none" stroke="currentColor" stroke-width="1.5"/><path d="M10.6 2.8H4.3a1.6 1.6 0 0 0-1.6 1.6v6.3" fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round"/>',
  search:
    '<circle cx="7" cy="7" r="4.5" fill="none" stroke="currentColor" stroke-width="1.6"/><path d="m10.4 10.4 3.4 3.4" stroke="currentColor" stroke-width="1.6" stroke-linecap="round"/>',
  previous:
    '<path d="M10 3.5 5.5 8l4.5 4.5" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round"/>',
  next: '<path d="M6 3.5 10.5 8 6 12.5" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round"/>',
  person:
    '<circle cx="8" cy="5.4" r="2.9" fill="currentColor"/><path d="M2.4 14.4a5.6 5.6 0 0 1 11.2 0z" fill="currentColor"/>',
} as const;

export type IconName = keyof typeof shapes;

/** The sheet of all shapes. */
export const iconSheet = markup(
  `<svg class="sheet" aria-hidden="true">${Object.entries(shapes)
    .map(([name, shape]) => `<symbol id="i-${name}" viewBox="0 0 16 16">${shape}</symbol>`)
    .join('')}</svg>`,
);
