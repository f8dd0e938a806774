import { html, type Html } from '../../kit/html/html.ts';
import type { PageZone } from '../page-zone.ts';

/** Steps of at least this length are labelled with their date, in ms. */
const dayLike = 6 * 3_600_000;

/**
 * The label of a chart step: the time of day at its start, or the date that most of it falls on.
 */
export function axisLabel(begin: number, stepMs: number, zone: PageZone): Html {
  return stepMs >= dayLike
    ? html`<span>${zone.date(begin + stepMs / 2).slice(5)}</span>`
    : html`<span>${zone.field(begin).slice(11)}</span>`;
}
