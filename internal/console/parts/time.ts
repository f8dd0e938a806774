import { html, type Html } from '../../kit/html/html.ts';
import type { StoredEvent } from '../../record/stored-event.ts';
import { formatAge, formatDuration, formatTime } from './format.ts';

/** A time relative to now, with the exact one on hover. The script keeps both up to date. */
export function age(iso: string, now: number): Html {
  return html`<time datetime="${iso}" title="${formatTime(iso)}" data-age>${formatAge(now - Date.parse(iso))}</time>`;
}

/** An exact time; the script shows it in the chosen zone. */
export function exactTime(iso: string): Html {
  return html`<time datetime="${iso}" data-exact>${formatTime(iso)}</time>`;
}

/** How long an execution took; without an END, how long it has been running. */
export function duration(ms: number | null, sinceIso: string, now: number, isRunning: boolean): Html {
  if (ms !== null) return html`${formatDuration(ms)}`;
  if (!isRunning) return html`<span class="quiet" title="Its START or END is missing, or both came at once">–</span>`;
  return html`<span class="quiet" data-since="${sinceIso}"
    >${formatDuration(Math.max(0, now - Date.parse(sinceIso)))}</span
  >`;
}

/** The time of day, with the exact time on hover. */
export function clockTime(iso: string): Html {
  return html`<time datetime="${iso}" title="${formatTime(iso)}" data-clock>${iso.slice(11, 23)}</time>`;
}

/** When an event happened according to its producer, or else when it was accepted. */
export function happenedAt({ occurred_at, created_at }: Pick<StoredEvent, 'occurred_at' | 'created_at'>): string {
  return occurred_at ?? created_at;
}

/** From this difference, in ms, the time of acceptance is shown beside the time of the event. */
const tellsAcceptance = 1_000;

/** When an event happened and, if much later, when it was accepted. */
export function happened(event: Pick<StoredEvent, 'occurred_at' | 'created_at'>): Html {
  const later = Date.parse(event.created_at) - Date.parse(happenedAt(event));
  return html`<span class="happened"
    >${exactTime(happenedAt(event))}
    ${later >= tellsAcceptance && html`<small>accepted ${formatDuration(later)} later</small>`}</span
  >`;
}
