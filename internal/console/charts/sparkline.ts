import { scaleLinear } from 'd3-scale';
import { html, type Html } from '../../kit/html/html.ts';

const height = 20;

/** Counts as a row of small bars. */
export function sparkline(counts: readonly number[]): Html {
  const y = scaleLinear([0, Math.max(1, ...counts)], [0, height]);
  const bars = counts
    .map((count, index) =>
      count === 0 ? '' : `M${index * 4 + 1.5} ${height}V${(height - Math.max(2, y(count))).toFixed(1)}`,
    )
    .join('');
  return html`<svg
    class="sparkline"
    preserveAspectRatio="xMinYMid"
    viewBox="0 0 ${counts.length * 4} ${height}"
    aria-hidden="true"
  >
    <path class="line" d="M0 ${height - 0.5}H${counts.length * 4}" />
    <path class="bars" d="${bars}" />
  </svg>`;
}
