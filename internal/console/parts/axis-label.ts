import { html, type Html } from '../../kit/html/html.ts';
import type { PageZone } from '../page-zone.ts';

/** Steps from this length on are told by their date, in ms. */
const dayLike = 6 * 3_600_000;

/** When a step of a chart begins: its time of day, or the date of most of it. */
export function axisLabel(begin: number, stepMs: number, zone: PageZone): Html {
  return stepMs >= dayLike
    ? html`<span>${zone.date(begin + stepMs / 2).slice(5)}</span>`
    : html`<span>${zone.field(begin).slice(11)}</span>`;
}
