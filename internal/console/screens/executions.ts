import { encodeCursor } from '../../readapi/cursor.ts';
import { placeOf } from '../../readapi/list.ts';
import { recordedTime, storableText, uuid } from '../../readapi/parameters.ts';
import { answerHtml } from '../../kit/html/answer-html.ts';
import { html, type Html } from '../../kit/html/html.ts';
import type { ExecutionPosition } from '../../record/execution.ts';
import type { ExecutionPage } from '../../record/list-executions.ts';
import { readNameMap, searchAutomations, type NameOfAutomation } from '../names.ts';
import { count } from '../parts/format.ts';
import { inArchive } from '../parts/in-archive.ts';
import { wantsPart, type Console, type Screen, type Visit } from '../visit.ts';
import { readExecutionQuery, type ExecutionQuery } from './execution-filters.ts';
import { executionRow, rowHeadings } from './execution-row.ts';
import { filterBar } from './filter-bar.ts';
import { noExecutions } from './no-executions.ts';

const place = { firstEventAt: recordedTime, automationId: uuid, executionId: storableText(1, 1_000) };

/** Maximum number of automations offered for an ambiguous name. */
const mostChoices = 20;

/** Maximum number of automations that a search names above the executions. */
const mostFound = 6;

/** The list of executions, newest first. The address holds the whole view. */
export const executions: Screen = {
  path: '/executions',
  answer: async (visit, console) => {
    const query = await readExecutionQuery(visit, console);
    if (!query.isCanonical && !wantsPart(visit.ctx)) {
      visit.ctx.redirect(console.site.of(visit.organization, 'executions', query.given));
      return;
    }
    const scope = scopeOf(visit, query);
    const after = query.cursor === undefined ? undefined : placeOf<ExecutionPosition>(query.cursor, place, scope);
    const { q } = query.filters;
    const [found, nameMap, automations] = await Promise.all([
      query.choice === undefined
        ? console.record.listExecutions(visit.organization, query.filters, { limit: query.limit, after })
        : { items: [] },
      readNameMap(visit, console),
      q === undefined || query.filters.automationId !== undefined ? [] : searchAutomations(q, visit, console),
    ]);
    const nameOf: NameOfAutomation = (id) => nameMap.get(id);
    const rows = found.items.map((item) => executionRow(item, visit, console.site, nameOf));
    const more = nextPage(visit, query, found, console);
    if (wantsPart(visit.ctx)) {
      answerHtml(visit.ctx, html`<hx-partial hx-target="#rows" hx-swap="beforeend">${rows}</hx-partial>${more}`);
      return;
    }
    answerHtml(
      visit.ctx,
      console.page({
        title: 'Executions',
        viewer: visit.viewer,
        organization: visit.organization,
        section: 'executions',
        search: { text: query.given['q'] ?? '', kept: withoutSearch(query.given) },
        body: body(visit, { query, rows, more, names: nameMap, automations }, console),
      }),
    );
  },
};

function scopeOf({ organization }: Visit, { given }: ExecutionQuery) {
  const filters = new URLSearchParams(given);
  filters.sort();
  return { endpoint: 'console executions', organization, filters: filters.toString() };
}

function withoutSearch({ q: _q, ...kept }: Readonly<Record<string, string>>): Record<string, string> {
  return kept;
}

interface View {
  query: ExecutionQuery;
  rows: Html[];
  more: Html;
  names: ReadonlyMap<string, string>;
  /** Automations that the searched text finds. */
  automations: readonly { id: string; name: string }[];
}

function body(visit: Visit, { query, rows, more, names, automations }: View, console: Console): Html {
  const { site } = console;
  if (query.choice !== undefined) return choiceOf(query.choice, query, visit, console);
  const isFirst = query.cursor === undefined;
  const live = site.of(visit.organization, 'executions/live', query.given);
  const isEmpty = rows.length === 0 && isFirst;
  return html`<div class="head">
      <h1>Executions</h1>
      ${isFirst && html`<span class="live" data-live role="status">Live</span>`}
    </div>
    ${filterBar(visit, query, names, site)} ${automations.length > 0 && foundAutomations(automations, visit, console)}
    <div class="pill-slot" data-pill-slot><button type="button" class="pill" data-pill hidden></button></div>
    <div
      class="card"
      data-live-list
      ${isFirst && html`hx-sse:connect="${live}" hx-trigger="load, retry" hx-swap="none"`}
    >
      <table class="rows executions" ${isEmpty && html`hidden`}>
        ${rowHeadings}
        <tbody id="rows">
          ${rows}
        </tbody>
      </table>
      ${isEmpty && noExecutions(visit, query, console)}
    </div>
    ${more}`;
}

/** Links to the automations that the searched text finds by name, owner or tag. */
function foundAutomations(found: View['automations'], { organization }: Visit, { site }: Console): Html {
  const more = found.length - mostFound;
  return html`<p class="found quiet">
    Automations:
    ${found.slice(0, mostFound).map(({ id, name }) => html`<a href="${site.automation(organization, id)}" title="${id}"><bdi>${name}</bdi></a> `)}
    ${more > 0 && `and ${more} more`}
  </p>`;
}

/** Shown if the name matches several automations, or none. */
function choiceOf(
  { text, found }: NonNullable<ExecutionQuery['choice']>,
  { given }: ExecutionQuery,
  { organization }: Visit,
  { site }: Console,
): Html {
  const list = found.slice(0, mostChoices).map(
    ({ id, name }) =>
      html`<li>
        <a class="row-link" href="${site.of(organization, 'executions', { ...given, automation_id: id })}" title="${id}"
          ><bdi>${name}</bdi></a
        >
      </li>`,
  );
  const words =
    found.length === 0 ? 'No automation has the name, owner or tag' : `${count(found.length, 'automation')} match`;
  return html`<div class="head"><h1>Executions</h1></div>
    <div class="card">
      <div class="empty">
        <h2>${words} <bdi>“${text}”</bdi></h2>
        ${found.length === 0 && html`<p>Use a name from the list of automations; a part of it is enough.</p>`}
        <ul class="choices">
          ${list}
        </ul>
        <p class="actions">
          <a class="button" href="${site.of(organization, 'executions', { ...given, automation_id: undefined })}"
            >All automations</a
          >
        </p>
      </div>
    </div>`;
}

/** The link to the next page. htmx appends its rows and raises the limit in the address. */
function nextPage(
  visit: Visit,
  query: ExecutionQuery,
  { items, next, archived }: ExecutionPage,
  { site }: Console,
): Html {
  const source =
    archived !== undefined && html`<p class="quiet">${inArchive('Partly found in the archive.', archived)}</p>`;
  if (next === undefined) {
    return html`<div id="more">${source}${items.length > 0 && html`<p class="quiet">That is all.</p>`}</div>`;
  }
  const cursor = encodeCursor(next, scopeOf(visit, query));
  const href = site.of(visit.organization, 'executions', { ...query.given, cursor });
  const words = items.length === 0 ? 'Nothing found so far. Search further back' : 'Load more';
  return html`<div id="more">
    ${source}
    <a class="button" href="${href}" hx-get="${href}" hx-target="#more" hx-swap="outerHTML" data-more>${words}</a>
    <span class="loading" aria-hidden="true">Loading …</span>
  </div>`;
}
