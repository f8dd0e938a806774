import { timelineChart } from '../charts/timeline-chart.ts';
import { html, type Html } from '../../html/html.ts';
import type { StoredEvent } from '../../record/stored-event.ts';
import { count, formatDuration } from '../parts/format.ts';
import { kindMark } from '../parts/marks.ts';
import { clockTime } from '../parts/time.ts';
import type { ExecutionView } from './execution-view.ts';

/** A text up to this length, on one line, is shown without a fold. */
const shortText = 200;

/** The events in order, with the time between them, and proofs if they are sealed. */
export function timeline(
  { events: { items: accepted, next }, seal }: ExecutionView,
  proofOf: (eventId: string) => string,
): Html | false {
  const items = accepted.toSorted((a, b) => happenedAt(a).localeCompare(happenedAt(b)));
  const [first] = items;
  if (first === undefined) return false;
  const times = items.map((event) => Date.parse(happenedAt(event)));
  const begin = times[0] ?? 0;
  const total = (times.at(-1) ?? begin) - begin;
  const rows = items.map((event, index) => {
    const gap = (times[index] ?? 0) - (times[index - 1] ?? begin);
    return html`${gap > 0 && gapRow(gap, total)}
      <li class="step" id="t-${event.id}">
        <span class="offset" title="After the first event">+${formatDuration((times[index] ?? 0) - begin)}</span>
        ${kindMark(event.type_of_event)}
        <div class="what">${texts(event)}${seal?.sealedAt !== undefined && proofLink(proofOf(event.id), index)}</div>
        ${clockTime(happenedAt(event))}
      </li>`;
  });
  return html`<section class="card" aria-labelledby="timeline-title">
    <header>
      <h2 id="timeline-title">Timeline</h2>
      <span class="quiet"
        >${count(items.length, 'event')}${next && ', the first ones'} in ${formatDuration(total)}</span
      >
    </header>
    ${timelineChart(items, times)}
    <ol class="timeline">
      ${rows}
    </ol>
    ${next && html`<p class="quiet">This page shows the first ${items.length} events. The API and the export have all of them.</p>`}
  </section>`;
}

/** As the caller says; otherwise when it was accepted. */
function happenedAt({ occurred_at, created_at }: StoredEvent): string {
  return occurred_at ?? created_at;
}

/** The time between two events; one longer than a quarter of the whole is marked. */
function gapRow(gap: number, total: number): Html {
  const isLong = gap > total / 4 && gap >= 1_000;
  return html`<li class="gap ${isLong && 'long'}">
    <span>${formatDuration(gap)}${isLong && ' without an event'}</span>
  </li>`;
}

function proofLink(address: string, index: number): Html {
  return html`<a class="quiet" href="${address}" download aria-label="Proof of event ${index + 1}">Proof</a>`;
}

function texts({ description, error_id, error_description_detail }: StoredEvent): Html {
  return html`${error_id !== '' && html`<code class="error-id"><bdi>${error_id}</bdi></code> `}${folded(description)}${folded(error_description_detail)}`;
}

/** A long text shows its beginning, and unfolds on demand. */
function folded(text: string): Html | false {
  if (text === '') return false;
  const [firstLine = ''] = text.split(/\r?\n/);
  if (firstLine === text && text.length <= shortText) return html`<p class="text"><bdi>${text}</bdi></p>`;
  const beginning = firstLine.slice(0, shortText);
  return html`<details class="fold">
    <summary><bdi>${beginning}</bdi> …</summary>
    <pre>${text}</pre>
  </details>`;
}
