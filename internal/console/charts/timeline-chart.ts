import { scaleLinear } from 'd3-scale';
import { html, type Html } from '../../kit/html/html.ts';
import type { StoredEvent } from '../../record/stored-event.ts';
import { formatDuration } from '../parts/format.ts';

const [width, height, axis] = [1_000, 34, 20];

/** Maximum number of ticks in a chart: more would only cover each other. */
const mostTicks = 300;

/** The events of an execution on a time axis. `times`: their times in ms, in order. */
export function timelineChart(events: readonly StoredEvent[], times: readonly number[]): Html | false {
  const [begin = 0, end = 0] = [times[0], times.at(-1)];
  if (end <= begin) return false;
  const x = scaleLinear([0, end - begin], [4, width - 4]);
  const step = Math.ceil(events.length / mostTicks);
  const shown = events
    .map((event, index) => ({ kind: event.type_of_event.toLowerCase(), at: x((times[index] ?? 0) - begin), index }))
    .filter(({ kind, index }) => kind !== 'event' || index % step === 0);
  const ticks = x.ticks(5).filter((tick) => tick > 0);
  return html`<svg
      class="timeline-chart"
      viewBox="0 0 ${width} ${height}"
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <path class="line" d="M4 ${axis}H${width - 4}" />
      ${ticks.map((tick) => html`<path class="grid" d="M${x(tick).toFixed(1)} ${axis}v7" />`)}
      ${shown.map(({ kind, at }) => html`<path class="tick ${kind}" d="M${at.toFixed(1)} ${kind === 'event' ? axis - 7 : axis - 14}V${axis}" />`)}
    </svg>
    <p class="scale" aria-hidden="true">
      <span>0</span><span>${formatDuration((end - begin) / 2)}</span><span>${formatDuration(end - begin)}</span>
    </p>`;
}
