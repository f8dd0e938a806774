import { html, type Html } from '../../kit/html/html.ts';
import { anomalies } from '../../event/outcome/stored-batch.ts';
import { icon, stateWords } from '../parts/marks.ts';
import type { PageZone } from '../page-zone.ts';
import type { Site } from '../site.ts';
import type { Visit } from '../visit.ts';
import type { ExecutionQuery } from './execution-filters.ts';

type Given = ExecutionQuery['given'];

const states = ['running', 'failed', 'succeeded', 'lost'] as const;
const windows = { '1h': 'Last hour', '24h': 'Last 24 hours', '7d': 'Last 7 days', '30d': 'Last 30 days' } as const;

/** Maximum number of names that the automation field offers. */
const mostNames = 200;

/** Display names of the filters. */
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

/** The filters of the list. Each is a link or a form field, so the address holds the view. */
export function filterBar(
  { organization, zone }: Visit,
  { given }: ExecutionQuery,
  automations: ReadonlyMap<string, string>,
  site: Site,
): Html {
  const to = (change: Record<string, string | undefined>): string =>
    site.of(organization, 'executions', { ...given, ...change });
  const state = (value: (typeof states)[number] | undefined): Html =>
    html`<a href="${to({ state: value })}" ${given['state'] === value && html`aria-current="true"`}
      >${value === undefined ? 'All' : html`${icon(value === 'lost' ? 'unknown' : value)}${stateWords[value]}`}</a
    >`;
  return html`<div class="filters">
    <nav class="segments" aria-label="State">${[undefined, ...states].map(state)}</nav>
    ${chips(given, to, automations, zone)} ${downloadLink(organization, given, site)}
    <details class="menu more-filters">
      <summary class="button">Filters</summary>
      <form class="panel" action="${site.of(organization, 'executions')}">${fields(given, automations, zone)}</form>
    </details>
  </div>`;
}

/** The filters that an export also has. */
const exported = new Set(['automation_id', 'execution_id', 'error_id', 'q', 'from', 'to']);

/** The events behind the list as a file; absent while a filter is set that exports do not have. */
function downloadLink(organization: string, given: Given, site: Site): Html | false {
  if (!Object.keys(given).every((name) => exported.has(name))) return false;
  return html`<a class="button download" href="${site.download(organization, given)}" download>Download CSV</a>`;
}

/** The active filters, each with a link that removes it. */
function chips(
  given: Given,
  to: (change: Record<string, undefined>) => string,
  automations: ReadonlyMap<string, string>,
  zone: PageZone,
): Html[] {
  const words = (name: string, value: string): string => {
    if (name === 'window') return windows[value as keyof typeof windows] ?? `Last ${value}`;
    if (name === 'from' || name === 'to') return zone.minute(Date.parse(value));
    if (name === 'error_id' && value === '') return 'without an error_id';
    return (name === 'automation_id' && automations.get(value)) || value;
  };
  return Object.entries(given)
    .filter(([name]) => name !== 'state')
    .map(([name, value]) => {
      const label = names[name] === undefined ? '' : html`<span class="quiet">${names[name]}</span> `;
      return html`<a class="chip" href="${to({ [name]: undefined })}" title="Remove this filter: ${value}"
        >${label}<bdi>${words(name, value)}</bdi><span aria-hidden="true">×</span
        ><span class="hidden">, remove</span></a
      >`;
    });
}

function fields(given: Given, automations: ReadonlyMap<string, string>, zone: PageZone): Html {
  const text = (name: string, label: string, value: string | undefined, hint = '', list?: string): Html =>
    html`<label
      >${label}<input
        name="${name}"
        value="${value}"
        placeholder="${hint}"
        ${list !== undefined && html`list="${list}"`}
        autocomplete="off"
        spellcheck="false"
    /></label>`;
  const { automation_id: automation = '' } = given;
  const option = (name: string, value: string, words: string): Html =>
    html`<option value="${value}" ${given[name] === value && html`selected`}>${words}</option>`;
  const time = (name: string, label: string): Html =>
    html`<label
      >${label}<input
        type="datetime-local"
        name="${name}"
        value="${given[name] && zone.field(Date.parse(given[name]))}"
    /></label>`;
  return html`<input type="hidden" name="state" value="${given['state']}" /><input
      type="hidden"
      name="q"
      value="${given['q']}"
    />
    ${text('automation_id', 'Automation', automations.get(automation) ?? automation, 'name, owner, tag or UUID', 'automation-names')}
    <datalist id="automation-names">
      ${[...new Set(automations.values())].slice(0, mostNames).map((name) => html`<option value="${name}"></option>`)}
    </datalist>
    ${text('execution_id', 'Execution', given['execution_id'], 'exact id')}
    ${text('error', 'Error', given['error_id'], 'exact error_id')}
    <label
      >Started<select name="window">
        ${option('window', '', 'any time')}${Object.entries(windows).map(([value, words]) => option('window', value, words))}
      </select></label
    >
    <div class="pair">${time('from', `From (${zone.name})`)}${time('to', `To (${zone.name})`)}</div>
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
