import { scaleBand, scaleLinear } from 'd3-scale';
import { stack } from 'd3-shape';
import { html, markup, type Html } from '../../kit/html/html.ts';
import type { ExecutionState } from '../../event/outcome/execution-state.ts';
import type { CountedStep, Steps } from '../../record/count-executions.ts';
import type { PageZone } from '../page-zone.ts';
import { count, formatNumber } from '../parts/format.ts';
import { axisLabel } from '../parts/axis-label.ts';
import { icon, stateWords } from '../parts/marks.ts';
import { beginsOf } from '../windows.ts';

const [width, height] = [1_000, 160];

/** From bottom to top: failures are on top, where the eye compares them. */
const order: readonly ExecutionState[] = ['succeeded', 'running', 'failed'];

/** Minimum height of a part, so that one failure among thousands is visible. */
const leastHeight = 4;

type Counts = CountedStep['counts'];

/** Executions by step and state. `hrefOf` returns the address of the list behind a bar. */
export function stateChart(
  counted: readonly CountedStep[],
  steps: Steps,
  zone: PageZone,
  hrefOf: (begin: number) => string,
): Html {
  const byBegin = new Map(counted.map((step) => [Date.parse(step.at), step]));
  const begins = beginsOf(steps);
  const columns = begins.map((begin) => ({ begin, counts: none, ...byBegin.get(begin) }));
  const most = Math.max(1, ...columns.map(({ counts }) => sum(counts)));
  const y = scaleLinear([0, most], [0, height]).nice(3);
  // Nobody counts half an execution.
  const ticks = y.ticks(Math.min(3, most));
  const x = scaleBand(begins, [0, width]).paddingInner(0.22);
  const layers = stack<{ counts: Counts }, ExecutionState>()
    .keys(order)
    .value(({ counts }, state) => counts[state])(columns);
  const bars = columns.map(({ begin, counts, more = false }, index) => {
    const rects = layers.map((layer) => {
      const [low = 0, high = 0] = layer[index] ?? [];
      if (high === low) return '';
      const tall = Math.max(leastHeight, y(high) - y(low));
      const top = Math.max(0, height - y(low) - tall);
      return `<rect class="${layer.key}" x="${(x(begin) ?? 0).toFixed(1)}" y="${top.toFixed(1)}" width="${x.bandwidth().toFixed(1)}" height="${tall.toFixed(1)}"/>`;
    });
    return bar(
      { begin, counts, more },
      index,
      { rects: rects.join(''), x: x(begin) ?? 0, wide: x.step() },
      zone,
      hrefOf,
    );
  });
  return html`<div class="chart">
    <div class="y-axis" aria-hidden="true">
      ${ticks.toReversed().map((tick) => html`<span>${formatNumber(tick)}</span>`)}
    </div>
    <svg
      class="state-chart"
      viewBox="0 0 ${width} ${height}"
      preserveAspectRatio="none"
      role="group"
      aria-label="Executions by time and state"
      data-bars
    >
      ${ticks.map((tick) => html`<path class="grid" d="M0 ${(height - y(tick)).toFixed(1)}H${width}" />`)} ${bars}
    </svg>
    <div class="x-axis" aria-hidden="true">${labels(begins, steps.stepMs, zone)}</div>
    <p class="legend">
      ${order.toReversed().map((state) => html`<span class="${state}">${icon(state)}${stateWords[state]}</span>`)}
    </p>
  </div>`;
}

interface Place {
  rects: string;
  x: number;
  wide: number;
}

interface Column {
  begin: number;
  counts: Counts;
  more: boolean;
}

function bar(
  { begin, counts, more }: Column,
  index: number,
  { rects, x, wide }: Place,
  zone: PageZone,
  hrefOf: (begin: number) => string,
): Html {
  const words = `${zone.minute(begin)}: ${more ? 'at least ' : ''}${count(sum(counts), 'execution')}, ${formatNumber(counts.failed)} failed, ${formatNumber(counts.running)} running`;
  return html`<a href="${hrefOf(begin)}" tabindex="${index === 0 ? 0 : -1}" aria-label="${words}"
    ><title>${words}</title
    ><rect class="hit" x="${x.toFixed(1)}" y="0" width="${wide.toFixed(1)}" height="${height}" />${markup(rects)}</a
  >`;
}

/** About eight labels, at equal distances. */
function labels(begins: readonly number[], stepMs: number, zone: PageZone): Html[] {
  const every = Math.ceil(begins.length / 8);
  return begins.filter((_, index) => index % every === 0).map((begin) => axisLabel(begin, stepMs, zone));
}

const none: Counts = { running: 0, succeeded: 0, failed: 0 };

function sum({ running, succeeded, failed }: Counts): number {
  return running + succeeded + failed;
}
