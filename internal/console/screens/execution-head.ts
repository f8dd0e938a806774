import { durationChart } from '../charts/duration-chart.ts';
import { html, type Html } from '../../kit/html/html.ts';
import { formatDuration } from '../parts/format.ts';
import { automationLink, copyButton } from '../parts/ids.ts';
import { icon, stateMark } from '../parts/marks.ts';
import { age, duration, exactTime } from '../parts/time.ts';
import type { Site } from '../site.ts';
import type { Visit } from '../visit.ts';
import { eventCounts } from './execution-row.ts';
import type { ExecutionView } from './execution-view.ts';
import { sealedFact } from './sealed.ts';

/** The name, state, neighbours and actions of an execution. */
export function executionHead({ execution, name, around }: ExecutionView, { organization }: Visit, site: Site): Html {
  const { automation, execution_id, state } = execution;
  const neighbour = (id: string | null, direction: 'previous' | 'next', words: string): Html =>
    id === null
      ? html`<span class="button off" aria-hidden="true">${icon(direction)}</span>`
      : html`<a
          class="button"
          href="${site.execution(organization, automation, id)}"
          rel="${direction === 'next' ? 'next' : 'prev'}"
          title="${words}: ${id}"
          aria-label="${words}"
          >${icon(direction)}</a
        >`;
  const json = `${site.execution(organization, automation, execution_id)}/json`;
  const events = site.download(organization, { automation_id: automation, execution_id });
  return html`<nav class="crumbs" aria-label="Place">
      <a href="${site.of(organization, 'executions')}">Executions</a>
      <span aria-hidden="true">/</span> ${automationLink(site.automation(organization, automation), automation, name)}
    </nav>
    <div class="head execution-head">
      <h1 class="mono"><bdi>${execution_id}</bdi>${copyButton(execution_id, 'the id of the execution')}</h1>
      <div class="actions">
        ${neighbour(around.previous, 'previous', 'Earlier execution')}
        ${neighbour(around.next, 'next', 'Later execution')}
        ${around.previous !== null && html`<a class="button" href="${site.execution(organization, automation, execution_id)}/compare">Compare</a>`}
        <a class="button" href="${events}" download>Download CSV</a>
        <button type="button" data-copy-from="${json}">${icon('copy')}Copy as JSON</button>
      </div>
    </div>
    <p class="big-state">
      ${stateMark(state, state === 'running' ? ': no END yet' : state === 'lost' ? ': no event for long, and no END' : '')}
    </p>`;
}

/** Times, counts, and the duration compared with the automation's usual ones. */
export function executionFacts(view: ExecutionView, visit: Visit, site: Site): Html {
  const { execution, name, around } = view;
  const { now } = visit;
  const { first_event_at, ended_at, duration_ms, state, automation, last_event_at } = execution;
  const isOpen = state === 'running' || state === 'lost';
  const lasted = duration_ms ?? (isOpen ? now - Date.parse(first_event_at) : null);
  return html`<section class="card facts" aria-label="Facts">
    <dl>
      <div class="wide">
        <dt>Duration</dt>
        <dd>${duration(duration_ms, first_event_at, now, isOpen)}${comparison(lasted, around)}</dd>
      </div>
      <div>
        <dt>Started</dt>
        <dd>${age(first_event_at, now)}<small>${exactTime(first_event_at)}</small></dd>
      </div>
      <div>
        <dt>${ended_at === null ? 'Last event' : 'Ended'}</dt>
        <dd>${age(ended_at ?? last_event_at, now)}<small>${exactTime(ended_at ?? last_event_at)}</small></dd>
      </div>
      <div>
        <dt>Events</dt>
        <dd>${eventCounts(execution)}</dd>
      </div>
      ${sealedFact(view, visit, site)}
      <div>
        <dt>Automation</dt>
        <dd>
          ${name !== undefined && html`<bdi>${name}</bdi>`}
          <small class="mono">${automation}${copyButton(automation, 'the id of the automation')}</small>
        </dd>
      </div>
    </dl>
  </section>`;
}

/** Compares a duration with the usual ones, in words and as a chart. */
function comparison(lasted: number | null, { p50_ms, p95_ms, compared }: ExecutionView['around']): Html | false {
  if (lasted === null || p50_ms === null || p95_ms === null || compared < 2) return false;
  const usual = `Usual: ${formatDuration(p50_ms)}; 95 % end within ${formatDuration(p95_ms)}.`;
  return html`<small class="${lasted > p95_ms && 'warning-text'}">${verdict(lasted, p50_ms, p95_ms)}</small>
    ${durationChart({ lasted, p50: p50_ms, p95: p95_ms })}<small>${usual}</small>`;
}

function verdict(lasted: number, p50: number, p95: number): string {
  if (lasted > p95) return `slower than 95 % of the last executions`;
  return lasted > p50 ? 'slower than most, but within the usual range' : 'among the faster half of the last executions';
}
