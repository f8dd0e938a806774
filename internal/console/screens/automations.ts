import { holdsText } from '../../event/folded-text.ts';
import { oneOf, storableText } from '../../readapi/parameters.ts';
import { readQuery, type Values } from '../../readapi/query.ts';
import { answerHtml } from '../../kit/html/answer-html.ts';
import { html, nothing, type Html } from '../../kit/html/html.ts';
import { strip, stripRuns } from '../charts/strip.ts';
import { automationViews, healthOf, type AutomationView, type Health } from '../health.ts';
import { count, formatDuration, formatShare } from '../parts/format.ts';
import { automationLink, copyButton } from '../parts/ids.ts';
import { icon, stateMark } from '../parts/marks.ts';
import { age } from '../parts/time.ts';
import { attentionsOf } from '../attention.ts';
import { healthMark, nameOf } from '../parts/verdicts.ts';
import { knownUpTo } from '../behind.ts';
import { readBehind } from './blindness.ts';
import { readOverdue } from './read-overdue.ts';
import { givenOf } from './execution-filters.ts';
import type { Declaration } from '../../record/declaration.ts';
import type { Console, Screen, Visit } from '../visit.ts';
import { owns } from '../viewer.ts';
import { firstEvent } from './no-executions.ts';

/** The orders of the list. Each puts the row first that matters most in it. */
const orders: Readonly<Record<string, (a: AutomationView, b: AutomationView) => number>> = {
  last: (a, b) => lastOf(b).localeCompare(lastOf(a)),
  failures: (a, b) => failedShare(b) - failedShare(a),
  p50: (a, b) => (b.health?.p50 ?? -1) - (a.health?.p50 ?? -1),
  p95: (a, b) => (b.health?.p95 ?? -1) - (a.health?.p95 ?? -1),
  id: (a, b) => wordsOf(a).localeCompare(wordsOf(b)),
};

function lastOf({ health }: AutomationView): string {
  return health?.last.first_event_at ?? '';
}

function failedShare({ health }: AutomationView): number {
  return health === undefined ? -1 : health.failed / health.runs.length;
}

/** The name of an automation, or else its id. */
function wordsOf({ automation, declaration }: AutomationView): string {
  return nameOf(declaration) ?? automation;
}

type Holds = (view: AutomationView, needed: ReadonlySet<string>) => boolean;

const states: Readonly<Record<string, { words: string; holds: Holds }>> = {
  attention: { words: 'Needs attention', holds: ({ automation }, needed) => needed.has(automation) },
  failing: { words: 'Failing', holds: ({ health }) => (health?.failuresInARow ?? 0) > 0 },
  failed: { words: 'With a failed run', holds: ({ health }) => (health?.failed ?? 0) > 0 },
  running: { words: 'Running', holds: ({ health }) => health?.last.state === 'running' },
};

const table = {
  sort: oneOf(Object.keys(orders)),
  state: oneOf(Object.keys(states)),
  id: storableText(1, 200),
} as const;
type Query = Values<typeof table>;

/** All automations: those with a run, and those that are declared. */
export const automations: Screen = {
  path: '/automations',
  answer: async (visit, console) => {
    const query = readQuery({ querystring: givenOf(visit.ctx).toString() }, table);
    const { viewer, organization } = visit;
    const [runs, declared, overdue, behind] = await Promise.all([
      console.record.newestRuns(organization, stripRuns),
      console.record.listDeclarations(organization),
      readOverdue(organization, visit.now, console),
      readBehind(console, organization),
    ]);
    const all = automationViews(runs.flatMap(healthOf), declared);
    const needed = new Set(attentionsOf(all, overdue).needed.map(({ automation }) => automation));
    const shown = all
      .filter((view) => query.state === undefined || states[query.state]?.holds(view, needed))
      .filter((view) => query.id === undefined || isNamed(view, query.id))
      .sort(orders[query.sort ?? 'last']);
    const upTo = knownUpTo(behind, visit.zone);
    const body = bodyOf({ query, all: all.length, shown, upTo }, visit, console);
    answerHtml(visit.ctx, console.page({ title: 'Automations', viewer, organization, section: 'automations', body }));
  },
};

/** True if the id, the name, the owner or a tag contains the text. */
function isNamed({ automation, declaration }: AutomationView, text: string): boolean {
  const { display_name = '', name = '', namespace = '', owner = '', tags = [] } = declaration ?? {};
  return [automation, display_name, `${namespace}/${name}`, owner, ...tags].some((words) => holdsText(words, text));
}

interface View {
  query: Query;
  all: number;
  shown: AutomationView[];
  /** Until when the verdicts are known, while the record is behind. */
  upTo: string | undefined;
}

function bodyOf({ query, all, shown, upTo }: View, visit: Visit, console: Console): Html {
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
  const hasDeclared = shown.some(({ declaration }) => declaration !== undefined);
  const list = html`<table class="rows automations ${hasDeclared && 'judged'}">
    <thead>
      <tr>
        ${heading('id', 'Automation')}
        <th scope="col">Last ${stripRuns} executions</th>
        ${heading('failures', 'Failed', 'number')}${heading('p50', 'p50', 'number')}${heading('p95', 'p95', 'number')}${heading('last', 'Last execution')}${hasDeclared && html`<th scope="col">Expectations</th>`}
      </tr>
    </thead>
    <tbody>
      ${shown.map((view) => row(view, { hasDeclared, upTo }, visit, console))}
    </tbody>
  </table>`;
  return html`<div class="head">
      <h1>Automations</h1>
      <span class="quiet"
        >${shown.length === all ? count(all, 'automation') : `${shown.length} of ${count(all, 'automation')}`}</span
      >
      ${owns(visit.viewer, visit.organization) && html`<a class="button primary" href="${site.of(visit.organization, 'automations/new')}">New</a>`}
      <a class="button" href="${site.of(visit.organization, 'automations.yaml')}">Export as YAML</a>
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
          maxlength="200"
          placeholder="Name, owner, tag or id"
          aria-label="Part of the name, owner, tag or id of an automation"
        />
      </form>
    </div>
    <div class="card">${shown.length > 0 ? list : nothingShown(all, visit, console)}</div>`;
}

function row(
  view: AutomationView,
  { hasDeclared, upTo }: { hasDeclared: boolean } & Pick<View, 'upTo'>,
  { organization, now }: Visit,
  { site }: Console,
): Html {
  const { automation, declaration, health } = view;
  const href = site.automation(organization, automation);
  const name = nameOf(declaration);
  return html`<tr data-row>
    <td>
      <span class="named"
        >${automationLink(href, automation, name, 'row-link')} ${copyButton(automation, 'the id')}</span
      >${declaration !== undefined && ownership(declaration, organization, site)}
    </td>

    ${health === undefined ? neverRun : runCells(health, now)}${hasDeclared && html`<td>${declaration && healthMark(declaration, upTo)}</td>`}
  </tr>`;
}

/** The owner and the tags, each a link to the automations that have it. */
export function ownership({ owner, tags }: Declaration, organization: string, site: Console['site']): Html {
  const link = (text: string, mark = ''): Html =>
    html`<a href="${site.of(organization, 'automations', { id: text })}">${mark}<bdi>${text}</bdi></a> `;
  if (owner === '' && tags.length === 0) return nothing;
  return html`<small class="ownership quiet" title="${[owner, ...tags].join(' ')}"
    >${owner !== '' && link(owner)}${tags.map((tag) => link(tag, '#'))}</small
  >`;
}

const neverRun = html`<td class="quiet">No execution yet</td>
  <td class="number">–</td>
  <td class="number">–</td>
  <td class="number">–</td>
  <td class="quiet">never</td>`;

function runCells({ runs, failed, failuresInARow, p50, p95, last }: Health, now: number): Html {
  const duration = (ms: number | undefined): string => (ms === undefined ? '–' : formatDuration(ms));
  return html`<td>
      ${strip(runs.map(({ state }) => state))}<span class="hidden">${failed} of ${runs.length} failed</span>
    </td>
    <td class="number ${failuresInARow > 0 && 'failed'}">
      ${failuresInARow > 0 && icon('failed')} ${formatShare(failed, runs.length)}
    </td>
    <td class="number">${duration(p50)}</td>
    <td class="number">${duration(p95)}</td>
    <td>${stateMark(last.state)} ${age(last.first_event_at, now)}</td>`;
}

function nothingShown(all: number, visit: Visit, console: Console): Html {
  const { organization } = visit;
  if (all === 0) return firstEvent(visit, console);
  return html`<div class="empty">
    <h2>No automation matches</h2>
    <p>None of the ${count(all, 'automation')} matches all of these filters.</p>
    <p class="actions"><a class="button primary" href="${console.site.of(organization, 'automations')}">Show all</a></p>
  </div>`;
}
