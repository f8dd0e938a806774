import { scaleLinear, scalePow } from 'd3-scale';
import { html, type Html } from '../../kit/html/html.ts';
import type { Execution } from '../../record/execution.ts';
import type { PageZone } from '../page-zone.ts';
import { stateWords, tookWords } from '../parts/marks.ts';

const [pitch, bar, height, foot] = [16, 12, 96, 7];
const most = 60;

/**
 * The newest executions as bars, newest on the right. The height is the duration; the foot shows
 * the state as a shape. `executions`: newest first.
 */
export function runsChart(
  executions: readonly Execution[],
  zone: PageZone,
  hrefOf: (executionId: string) => string,
): Html {
  const shown = executions.slice(0, most).toReversed();
  const longest = Math.max(1, ...shown.map(({ duration_ms }) => duration_ms ?? 0));
  // A square-root scale: one slow run among many does not flatten the others.
  const y = scalePow([0, longest], [3, height]).exponent(0.5);
  const x = scaleLinear([0, most], [0, most * pitch]);
  const left = most - shown.length;
  const bars = shown.map((execution, index) => {
    const { execution_id, state, duration_ms, first_event_at } = execution;
    const tall = duration_ms === null ? height / 2 : y(duration_ms);
    const at = x(left + index);
    const words = `${stateWords[state]}, ${tookWords(duration_ms, state)}, ${zone.second(Date.parse(first_event_at))}, ${execution_id}`;
    return html`<a
      href="${hrefOf(execution_id)}"
      tabindex="${index === shown.length - 1 ? 0 : -1}"
      aria-label="${words}"
      ><title>${words}</title><rect class="hit" x="${at}" y="0" width="${pitch}" height="${height + 3 * foot}" /><rect
        class="${state} ${duration_ms === null && 'open'}"
        x="${at + 2}"
        y="${(height - tall).toFixed(1)}"
        width="${bar}"
        height="${tall.toFixed(1)}"
        rx="2"
      />${footOf(state, at + 2 + bar / 2)}</a
    >`;
  });
  return html`<svg
    class="runs-chart"
    viewBox="0 0 ${most * pitch} ${height + 3 * foot}"
    role="group"
    aria-label="Newest executions by duration and state"
    data-bars
  >
    ${bars}
  </svg>`;
}

function footOf(state: Execution['state'], at: number): Html | false {
  const y = height + 2 * foot;
  if (state === 'failed') return html`<path class="failed" d="M${at} ${y - 6}l6 6-6 6-6-6z" />`;
  if (state === 'running' || state === 'lost') return html`<circle class="${state} open" cx="${at}" cy="${y}" r="4" />`;
  return html`<circle class="succeeded" cx="${at}" cy="${y}" r="2.5" />`;
}
