import { html, type Html } from '../../html/html.ts';
import { anomalies } from '../../outcome/stored-batch.ts';
import { icon, stateWords } from '../parts/marks.ts';
import type { Site } from '../site.ts';
import type { Visit } from '../visit.ts';
import type { ExecutionQuery } from './execution-filters.ts';

type Given = ExecutionQuery['given'];

const states = ['running', 'failed', 'succeeded', 'lost'] as const;
const windows = { '1h': 'Last hour', '24h': 'Last 24 hours', '7d': 'Last 7 days', '30d': 'Last 30 days' } as const;

/** Names of filters for people. */
const names: Readonly<Record<string, string>> = {
  q: 'text',
  automation_id: 'automation',
  execution_id: 'execution',
  error_id: 'error',
  anomaly: 'order',
  has: 'has',
  from: 'from',
  to: 'to',
};

/** The filters of the list. Each is a link or a field, so that the address is the view. */
export function filterBar({ organization }: Visit, { given }: ExecutionQuery, site: Site): Html {
  const to = (change: Record<string, string | undefined>): string =>
    site.of(organization, 'executions', { ...given, ...change });
  const state = (value: (typeof states)[number] | undefined): Html =>
    html`<a href="${to({ state: value })}" ${given['state'] === value && html`aria-current="true"`}
      >${value === undefined ? 'All' : html`${icon(value === 'lost' ? 'unknown' : value)}${stateWords[value]}`}</a
    >`;
  return html`<div class="filters">
    <nav class="segments" aria-label="State">${[undefined, ...states].map(state)}</nav>
    ${chips(given, to)}
    <details class="menu more-filters">
      <summary class="button">Filters</summary>
      <form class="panel" action="${site.of(organization, 'executions')}">${fields(given)}</form>
    </details>
  </div>`;
}

/** The filters that are set, each with a way to remove it. */
function chips(given: Given, to: (change: Record<string, undefined>) => string): Html[] {
  return Object.entries(given)
    .filter(([name]) => name !== 'state')
    .map(([name, value]) => {
      const text = name === 'window' ? (windows[value as keyof typeof windows] ?? `Last ${value}`) : value;
      const label = names[name] === undefined ? '' : html`<span class="quiet">${names[name]}</span> `;
      return html`<a class="chip" href="${to({ [name]: undefined })}" title="Remove this filter"
        >${label}<bdi>${text}</bdi><span aria-hidden="true">×</span><span class="hidden">, remove</span></a
      >`;
    });
}

function fields(given: Given): Html {
  const text = (name: string, label: string, hint = ''): Html =>
    html`<label
      >${label}<input name="${name}" value="${given[name]}" placeholder="${hint}" autocomplete="off" spellcheck="false"
    /></label>`;
  const option = (name: string, value: string, words: string): Html =>
    html`<option value="${value}" ${given[name] === value && html`selected`}>${words}</option>`;
  const time = (name: string, label: string): Html =>
    html`<label>${label}<input type="datetime-local" name="${name}" value="${given[name]?.slice(0, 16)}" /></label>`;
  return html`<input type="hidden" name="state" value="${given['state']}" /><input
      type="hidden"
      name="q"
      value="${given['q']}"
    />
    ${text('automation_id', 'Automation', 'UUID')} ${text('execution_id', 'Execution', 'exact id')}
    ${text('error_id', 'Error', 'exact error_id')}
    <label
      >Started<select name="window">
        ${option('window', '', 'any time')}${Object.entries(windows).map(([value, words]) => option('window', value, words))}
      </select></label
    >
    <div class="pair">${time('from', 'From (UTC)')}${time('to', 'To (UTC)')}</div>
    <label
      >Order of events<select name="anomaly">
        ${option('anomaly', '', 'any')}${anomalies.map((value) => option('anomaly', value, value.replaceAll('_', ' ')))}
      </select></label
    >
    <label class="check"
      ><input type="checkbox" name="has" value="warning" ${given['has'] === 'warning' && html`checked`} />With a
      warning</label
    >
    <button class="primary">Apply</button>`;
}
