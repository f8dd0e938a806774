import { oneOf, storableText } from '../../api/read/parameters.ts';
import { readQuery, type Values } from '../../api/read/query.ts';
import { answerHtml } from '../../html/answer-html.ts';
import { html, type Html } from '../../html/html.ts';
import { strip, stripRuns } from '../charts/strip.ts';
import { healthOf, type Health } from '../health.ts';
import { count, formatDuration, formatShare, shortenUuid } from '../parts/format.ts';
import { copyButton } from '../parts/ids.ts';
import { icon, stateMark } from '../parts/marks.ts';
import { age } from '../parts/time.ts';
import { givenOf } from './execution-filters.ts';
import type { Console, Screen, Visit } from '../visit.ts';
import { firstEvent } from './no-executions.ts';

/** Each order of the list, from the row that comes first. */
const orders: Readonly<Record<string, (a: Health, b: Health) => number>> = {
  last: (a, b) => b.last.first_event_at.localeCompare(a.last.first_event_at),
  failures: (a, b) => b.failed / b.runs.length - a.failed / a.runs.length,
  p50: (a, b) => (b.p50 ?? -1) - (a.p50 ?? -1),
  p95: (a, b) => (b.p95 ?? -1) - (a.p95 ?? -1),
  id: (a, b) => a.automation.localeCompare(b.automation),
};

const states: Readonly<Record<string, { words: string; holds: (health: Health) => boolean }>> = {
  failing: { words: 'Failing', holds: ({ failuresInARow }) => failuresInARow > 0 },
  failed: { words: 'With a failed run', holds: ({ failed }) => failed > 0 },
  running: { words: 'Running', holds: ({ last }) => last.state === 'running' },
};

const table = { sort: oneOf(Object.keys(orders)), state: oneOf(Object.keys(states)), id: storableText(1, 36) } as const;
type Query = Values<typeof table>;

/** All automations with their newest runs. */
export const automations: Screen = {
  path: '/automations',
  answer: async (visit, console) => {
    const query = readQuery({ querystring: givenOf(visit.ctx).toString() }, table);
    const { viewer, organization } = visit;
    const all = (await console.record.newestRuns(organization, stripRuns)).flatMap(healthOf);
    const shown = all
      .filter((health) => query.state === undefined || states[query.state]?.holds(health))
      .filter(({ automation }) => query.id === undefined || automation.includes(query.id.toLowerCase()))
      .sort(orders[query.sort ?? 'last']);
    const body = bodyOf({ query, all: all.length, shown }, visit, console);
    answerHtml(visit.ctx, console.page({ title: 'Automations', viewer, organization, section: 'automations', body }));
  },
};

interface View {
  query: Query;
  all: number;
  shown: Health[];
}

function bodyOf({ query, all, shown }: View, visit: Visit, console: Console): Html {
  const { site } = console;
  const to = (change: Query): string => site.of(visit.organization, 'automations', { ...query, ...change });
  const heading = (sort: string, words: string, className = ''): Html => {
    const isCurrent = (query.sort ?? 'last') === sort;
    return html`<th
      scope="col"
      class="${className}"
      ${isCurrent && html`aria-sort="${sort === 'id' ? 'ascending' : 'descending'}"`}
    >
      <a href="${to({ sort })}">${words}</a>
    </th>`;
  };
  const list = html`<table class="rows automations">
    <thead>
      <tr>
        ${heading('id', 'Automation')}
        <th scope="col">Last ${stripRuns} executions</th>
        ${heading('failures', 'Failed', 'number')}${heading('p50', 'p50', 'number')}${heading('p95', 'p95', 'number')}${heading('last', 'Last execution')}
      </tr>
    </thead>
    <tbody>
      ${shown.map((health) => row(health, visit, console))}
    </tbody>
  </table>`;
  return html`<div class="head">
      <h1>Automations</h1>
      <span class="quiet"
        >${shown.length === all ? count(all, 'automation') : `${shown.length} of ${count(all, 'automation')}`}</span
      >
    </div>
    <div class="filters below">
      <nav class="segments" aria-label="State">
        <a
          href="${site.of(visit.organization, 'automations', { ...query, state: undefined })}"
          ${query.state === undefined && html`aria-current="true"`}
          >All</a
        >
        ${Object.entries(states).map(([state, { words }]) => html`<a href="${to({ state })}" ${query.state === state && html`aria-current="true"`}>${words}</a>`)}
      </nav>
      <form class="inline">
        <input type="hidden" name="sort" value="${query.sort}" /><input
          type="hidden"
          name="state"
          value="${query.state}"
        />
        <input
          type="search"
          name="id"
          value="${query.id}"
          maxlength="36"
          placeholder="Part of an id"
          aria-label="Part of the id of an automation"
        />
      </form>
    </div>
    <div class="card">${shown.length > 0 ? list : nothingShown(all, visit, console)}</div>`;
}

function row(
  { automation, runs, failed, failuresInARow, p50, p95, last }: Health,
  { organization, now }: Visit,
  { site }: Console,
): Html {
  const duration = (ms: number | undefined): string => (ms === undefined ? '–' : formatDuration(ms));
  return html`<tr data-row>
    <td>
      <a class="row-link mono" href="${site.automation(organization, automation)}" title="${automation}"
        >${shortenUuid(automation)}</a
      >
      ${copyButton(automation, 'the id')}
    </td>
    <td>${strip(runs.map(({ state }) => state))}<span class="hidden">${failed} of ${runs.length} failed</span></td>
    <td class="number ${failuresInARow > 0 && 'failed'}">
      ${failuresInARow > 0 && icon('failed')} ${formatShare(failed, runs.length)}
    </td>
    <td class="number">${duration(p50)}</td>
    <td class="number">${duration(p95)}</td>
    <td>${stateMark(last.state)} ${age(last.first_event_at, now)}</td>
  </tr>`;
}

function nothingShown(all: number, { organization }: Visit, console: Console): Html {
  if (all === 0) return firstEvent(console);
  return html`<div class="empty">
    <h2>No automation matches</h2>
    <p>None of the ${count(all, 'automation')} has all of these filters.</p>
    <p class="actions"><a class="button primary" href="${console.site.of(organization, 'automations')}">Show all</a></p>
  </div>`;
}
