import { timelineChart } from '../charts/timeline-chart.ts';
import { shownTexts } from '../../event/fields.ts';
import { eventKinds, type EventKind } from '../../event/schema.ts';
import { html, type Html } from '../../kit/html/html.ts';
import type { StoredEvent } from '../../record/stored-event.ts';
import { count, formatDuration, formatNumber } from '../parts/format.ts';
import type { Act } from '../../record/acts.ts';
import { actWords } from '../parts/acts.ts';
import { inArchive } from '../parts/in-archive.ts';
import { icon, kindMark, marksOf } from '../parts/marks.ts';
import { clockTime, happenedAt } from '../parts/time.ts';
import { queryOf, type Parameters } from '../site.ts';
import { sumOf } from './execution-row.ts';
import type { ExecutionView } from './execution-view.ts';
import { positionText } from './timeline-query.ts';

/** A single-line text up to this length is shown unfolded. */
const shortText = 200;

/** A pause is shown from this length, in ms, and from this share of the page's time span. */
const [leastGap, leastShare] = [1_000, 1 / 8];

/** The events in order, with the long pauses between them, and proofs if they are sealed. */
export function timeline(view: ExecutionView, address: string, proofOf: (eventId: string) => string): Html {
  const { events, seal, execution } = view;
  const items = events.items.toSorted((a, b) => happenedAt(a).localeCompare(happenedAt(b)));
  const times = items.map((event) => Date.parse(happenedAt(event)));
  const acts = actsOnPage(view, times);
  const actsBefore = (time: number): Html[] =>
    acts.splice(0, acts.findLastIndex(({ at }) => Date.parse(at) < time) + 1).map((act) => actRow(act, begin));
  const begin = Date.parse(execution.first_event_at);
  const total = (times.at(-1) ?? begin) - (times[0] ?? begin);
  const rows = items.map((event, index) => {
    const gap = (times[index] ?? 0) - (times[index - 1] ?? times[index] ?? 0);
    const isLong = gap >= leastGap && gap > total * leastShare && view.query.kind === undefined;
    return html`${actsBefore(times[index] ?? 0)}${isLong && gapRow(gap)}
      <li class="step" id="t-${event.id}">
        <span class="offset" title="After the first event"
          >+${formatDuration(Math.max(0, (times[index] ?? 0) - begin))}</span
        >
        ${kindMark(event.type_of_event)}
        <div class="what">${texts(event)}${seal?.sealedAt !== undefined && proofLink(proofOf(event.id), index)}</div>
        ${clockTime(happenedAt(event))}
      </li>`;
  });
  const pages = pager(view, address);
  return html`<section class="card" aria-labelledby="timeline-title">
    <header>
      <h2 id="timeline-title">Timeline</h2>
      <span class="quiet"
        >${rangeOf(view)}${items.length > 1 && ` in ${formatDuration(total)}`}${events.archived !== undefined && html` · ${inArchive('from the archive', events.archived)}`}</span
      >
    </header>
    ${view.query.kind === undefined && timelineChart(items, times)}
    <div class="timeline-bar">${kindChoice(view, address)} ${pages}</div>
    <ol class="timeline">
      ${rows}${acts.map((act) => actRow(act, begin))}
    </ol>
    ${pages && html`<div class="timeline-bar">${pages}</div>`}
  </section>`;
}

/** The acts of owners in the time of a page, oldest first; none among the events of one kind. */
function actsOnPage({ acts, events: { before, more }, query }: ExecutionView, times: readonly number[]): Act[] {
  if (query.kind !== undefined) return [];
  const from = before.all === 0 ? -Infinity : (times[0] ?? -Infinity);
  const to = more ? (times.at(-1) ?? Infinity) : Infinity;
  const isHere = ({ at }: Act): boolean => Date.parse(at) >= from && Date.parse(at) < to;
  return acts.filter(isHere).toReversed();
}

function actRow(act: Act, begin: number): Html {
  return html`<li class="step act" id="a-${act.id}">
    <span class="offset" title="After the first event"
      >+${formatDuration(Math.max(0, Date.parse(act.at) - begin))}</span
    >
    <span class="kind act">${icon('person')}<span>${act.by}</span></span>
    <div class="what"><p class="text">${actWords(act)}</p></div>
    ${clockTime(act.at)}
  </li>`;
}

/** Which events the page has, such as `Events 501 to 703 of 703`. */
function rangeOf({ events, execution, query }: ExecutionView): string {
  const { items, before } = events;
  const all = query.kind === undefined ? sumOf(execution.counts) : execution.counts[query.kind];
  if (items.length >= all) return count(items.length, 'event');
  if (items.length === 0) return `No event here, of ${formatNumber(all)}`;
  const [from, to] = [before.ofKind + 1, before.ofKind + items.length];
  return `Events ${formatNumber(from)} to ${formatNumber(to)} of ${formatNumber(all)}`;
}

/** The kinds of events in the execution, with their counts. */
function kindChoice({ execution, query }: ExecutionView, address: string): Html | false {
  const kinds = eventKinds.filter((kind) => execution.counts[kind] > 0);
  if (sumOf(execution.counts) < 20 || kinds.length < 2) return false;
  const link = (kind: EventKind | undefined, words: Html): Html =>
    html`<a href="${address}${queryOf({ kind })}#timeline-title" ${kind === query.kind && html`aria-current="true"`}
      >${words}</a
    >`;
  return html`<nav class="segments" aria-label="Kind of event">
    ${link(undefined, html`All`)}${kinds.map((kind) => link(kind, html`${kindMark(kind)} <small>${formatNumber(execution.counts[kind])}</small>`))}
  </nav>`;
}

/** Links to the other pages; false if there is only this one. */
function pager({ events: { items, before, more }, query: { kind } }: ExecutionView, address: string): Html | false {
  const [first, last] = [items[0], items.at(-1)];
  if (before.ofKind === 0 && !more) return false;
  const link = (words: string, parameters: Parameters | false): Html =>
    parameters === false
      ? html`<span class="button off" aria-hidden="true">${words}</span>`
      : html`<a class="button" href="${address}${queryOf({ kind, ...parameters })}#timeline-title">${words}</a>`;
  const [hasEarlier, hasLater] = [before.ofKind > 0, more];
  return html`<nav class="pager" aria-label="Pages of the timeline">
    ${link('First', hasEarlier && {})}
    ${link('Earlier', hasEarlier && first !== undefined && { before: positionText(first) })}
    ${link('Later', hasLater && last !== undefined && { after: positionText(last) })}
    ${link('Last', hasLater && { last: 'true' })}
  </nav>`;
}

/** A pause that takes a large part of the time in view. */
function gapRow(gap: number): Html {
  return html`<li class="gap"><span>${formatDuration(gap)} without an event</span></li>`;
}

function proofLink(address: string, index: number): Html {
  return html`<a class="quiet" href="${address}" download aria-label="Proof of event ${index + 1}">Proof</a>`;
}

function texts(event: StoredEvent): Html {
  return html`${marksOf(event)}${shownTexts(event, 'sentences').map(({ text }) => folded(text))}`;
}

/** A long text shows its beginning and unfolds on demand. */
function folded(text: string): Html {
  const [firstLine = ''] = text.split(/\r?\n/);
  if (firstLine === text && text.length <= shortText) return html`<p class="text"><bdi>${text}</bdi></p>`;
  const beginning = firstLine.slice(0, shortText);
  return html`<details class="fold">
    <summary><bdi>${beginning}</bdi> …</summary>
    <pre>${text}</pre>
  </details>`;
}
