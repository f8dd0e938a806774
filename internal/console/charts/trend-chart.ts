import { scaleLinear } from 'd3-scale';
import { area, curveMonotoneX, line } from 'd3-shape';
import { html, type Html } from '../../kit/html/html.ts';
import type { SeriesPoint } from '../../record/automation.ts';
import type { Window } from '../../record/filters.ts';
import type { PageZone } from '../page-zone.ts';
import { axisLabel } from '../parts/axis-label.ts';
import { formatDuration } from '../parts/format.ts';

const [width, height] = [1_000, 160];

interface Point {
  at: number;
  p50: number;
  p95: number;
}

/** The median duration as a line, with the range up to the 95th percentile as an area. */
export function trendChart(series: readonly SeriesPoint[], { from, to }: Window, zone: PageZone): Html {
  const points = series.flatMap(({ at, p50_ms, p95_ms }): Point[] =>
    p50_ms === null || p95_ms === null ? [] : [{ at: Date.parse(at), p50: p50_ms, p95: p95_ms }],
  );
  if (points.length === 0) return html`<p class="fine">No execution with an END in this time.</p>`;
  const x = scaleLinear([from.getTime(), to.getTime()], [0, width]);
  const y = scaleLinear([0, Math.max(1, ...points.map(({ p95 }) => p95))], [height, 0]).nice(3);
  const median = line<Point>()
    .x(({ at }) => x(at))
    .y(({ p50 }) => y(p50))
    .curve(curveMonotoneX);
  const range = area<Point>()
    .x(({ at }) => x(at))
    .y0(({ p50 }) => y(p50))
    .y1(({ p95 }) => y(p95))
    .curve(curveMonotoneX);
  const [first] = points;
  const dot =
    points.length === 1 &&
    first !== undefined &&
    html`<path class="p50 dot" d="M${x(first.at)} ${y(first.p50)}h.01" />`;
  const last = points.at(-1);
  const isOneEach = points.every(({ p50, p95 }) => p50 === p95);
  return html`<div class="chart">
    <div class="y-axis" aria-hidden="true">
      ${y
        .ticks(3)
        .toReversed()
        .map((tick) => html`<span>${formatDuration(tick)}</span>`)}
    </div>
    <svg
      class="trend-chart"
      viewBox="0 0 ${width} ${height}"
      preserveAspectRatio="none"
      role="img"
      aria-label="Duration over time; the newest median is ${formatDuration(last?.p50 ?? 0)}"
    >
      ${y.ticks(3).map((tick) => html`<path class="grid" d="M0 ${y(tick).toFixed(1)}H${width}" />`)}
      <path class="range" d="${range(points)}" />
      <path
        class="p95"
        d="${line<Point>()
          .x(({ at }) => x(at))
          .y(({ p95 }) => y(p95))
          .curve(curveMonotoneX)(points)}"
      />
      <path class="p50" d="${median(points)}" />
      ${dot}
    </svg>
    <div class="x-axis" aria-hidden="true">${edges(from, to, zone)}</div>
    <p class="legend">
      ${
        isOneEach
          ? html`<span class="p50">One run each</span>`
          : html`<span class="p50">Median</span><span class="p95">95th percentile</span>`
      }
    </p>
  </div>`;
}

function edges(from: Date, to: Date, zone: PageZone): Html[] {
  const [begin, length] = [from.getTime(), to.getTime() - from.getTime()];
  const stepMs = length > 48 * 3_600_000 ? 24 * 3_600_000 : 3_600_000;
  return Array.from({ length: 6 }, (_, index) => axisLabel(begin + (index * length) / 6, stepMs, zone));
}
