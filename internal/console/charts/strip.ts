import { html, type Html } from '../../kit/html/html.ts';
import type { ShownState } from '../../event/outcome/execution-state.ts';

/** Runs of a strip, and the width of one: two units and a gap. */
export const stripRuns = 60;
const [pitch, height] = [3, 16];

/** The height of a run by its state: a failure is tall, whatever its colour. */
const lines: Readonly<Record<ShownState, number>> = { failed: 8, succeeded: 12, running: 14, lost: 14 };

/**
 * The newest runs as a row of bars, newest on the right. `states`: newest first. Neighbours with
 * the same state are one dashed line, which keeps the markup of a strip small.
 */
export function strip(states: readonly ShownState[]): Html {
  const shown = states.slice(0, stripRuns).toReversed();
  const left = (stripRuns - shown.length) * pitch;
  const paths: Record<ShownState, string> = { failed: '', succeeded: '', running: '', lost: '' };
  for (let begin = 0; begin < shown.length;) {
    const state = shown[begin] ?? 'running';
    let end = begin + 1;
    while (shown[end] === state) end += 1;
    paths[state] += `M${left + begin * pitch} ${lines[state]}h${(end - begin) * pitch - 1}`;
    begin = end;
  }
  const drawn = Object.entries(paths).filter(([, path]) => path !== '');
  return html`<svg
    class="strip"
    preserveAspectRatio="xMinYMid"
    viewBox="0 0 ${stripRuns * pitch} ${height}"
    aria-hidden="true"
  >
    ${drawn.map(([state, path]) => html`<path class="${state}" d="${path}" />`)}
  </svg>`;
}
