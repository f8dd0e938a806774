import { scaleLinear } from 'd3-scale';
import { html, type Html } from '../../kit/html/html.ts';

const [width, height] = [240, 18];

/** A duration on a bar whose filled parts end at the median and the 95th percentile, all in ms. */
export function durationChart({ lasted, p50, p95 }: Record<'lasted' | 'p50' | 'p95', number>): Html {
  const most = Math.max(lasted, p95) * 1.08;
  const x = scaleLinear([0, most || 1], [0, width]).clamp(true);
  const at = (value: number): string => x(value).toFixed(1);
  return html`<svg
    class="duration-chart"
    viewBox="0 0 ${width} ${height}"
    width="${width}"
    height="${height}"
    aria-hidden="true"
  >
    <rect class="track" x="0" y="7" width="${width}" height="4" rx="2" />
    <rect class="to-p95" x="0" y="7" width="${at(p95)}" height="4" rx="2" />
    <rect class="to-p50" x="0" y="7" width="${at(p50)}" height="4" rx="2" />
    <path class="here" d="M${at(lasted)} 2v14" />
  </svg>`;
}
