import { encodeCursor } from '../../readapi/cursor.ts';
import { errorGroupPlace } from '../../readapi/list-errors.ts';
import { placeOf } from '../../readapi/list.ts';
import { storableText, uuid } from '../../readapi/parameters.ts';
import { readQuery } from '../../readapi/query.ts';
import { answerHtml } from '../../kit/html/answer-html.ts';
import { html, type Html } from '../../kit/html/html.ts';
import type { ErrorCount } from '../../record/count-errors.ts';
import type { ErrorGroup, ErrorGroupPosition, ErrorGroups } from '../../record/error-group.ts';
import type { ErrorTimes } from '../../record/list-error-times.ts';
import { sparkline } from '../charts/sparkline.ts';
import { formatNumber, shortenUuid } from '../parts/format.ts';
import { automationLink } from '../parts/ids.ts';
import { icon } from '../parts/marks.ts';
import { age } from '../parts/time.ts';
import { windowChoice } from '../parts/window-choice.ts';
import { beginsOf, stepsOf, windowNames, windowParameter, windows, type WindowName } from '../windows.ts';
import { readNames } from '../names.ts';
import { wantsPart, type Console, type Screen, type Visit } from '../visit.ts';
import { givenOf } from './execution-filters.ts';

const table = { ...windowParameter, automation_id: uuid, cursor: storableText(1, 8_000) } as const;
const pageSize = 100;

/** Failures grouped by their cause: the automation and its `error_id`. */
export const errors: Screen = {
  path: '/errors',
  answer: async (visit, console) => {
    const { window = '24h', automation_id, cursor } = readQuery({ querystring: givenOf(visit.ctx).toString() }, table);
    const { organization, viewer, now, zone } = visit;
    const steps = stepsOf(window, now, zone);
    const scope = { endpoint: 'console errors', organization, filters: `${window} ${automation_id ?? ''}` };
    const after = cursor === undefined ? undefined : placeOf<ErrorGroupPosition>(cursor, errorGroupPlace, scope);
    const [groups, counts, nameOf] = await Promise.all([
      console.record.listErrors(organization, { ...steps, automationId: automation_id }, { limit: pageSize, after }),
      console.record.countErrors(organization, steps),
      readNames(visit, console),
    ]);
    const trends = trendsOf(counts, beginsOf(steps));
    const times = await console.record.listErrorTimes(organization, groups.items, steps);
    const rows = groups.items.map((group, index) => {
      const { automation, first_seen_at: first, last_seen_at: last } = group;
      const seen = times[index] ?? { first, last };
      return row(
        { group, seen, trend: trends.get(keyOf(group)) ?? [], name: nameOf(automation), window },
        visit,
        console,
      );
    });
    const next = groups.next === undefined ? undefined : encodeCursor(groups.next, scope);
    const more = moreOf(site(console, organization, { window, automation_id, cursor: next }), next);
    if (wantsPart(visit.ctx)) {
      answerHtml(visit.ctx, html`<hx-partial hx-target="#rows" hx-swap="beforeend">${rows}</hx-partial>${more}`);
      return;
    }
    const name = automation_id === undefined ? undefined : nameOf(automation_id);
    const body = bodyOf({ groups, rows, more, window, automation_id, name }, visit, console);
    answerHtml(visit.ctx, console.page({ title: 'Errors', viewer, organization, section: 'errors', body }));
  },
};

function site({ site }: Console, organization: string, parameters: Record<string, string | undefined>): string {
  return site.of(organization, 'errors', parameters);
}

function moreOf(href: string, next: string | undefined): Html {
  if (next === undefined) return html`<div id="more"></div>`;
  return html`<div id="more">
    <a class="button" href="${href}" hx-get="${href}" hx-target="#more" hx-swap="outerHTML">Load more</a
    ><span class="loading" aria-hidden="true">Loading …</span>
  </div>`;
}

function keyOf({ automation, error_id }: Pick<ErrorGroup, 'automation' | 'error_id'>): string {
  return `${automation} ${error_id}`;
}

/** The counts of each group, by step. */
function trendsOf(counts: readonly ErrorCount[], begins: readonly number[]): Map<string, number[]> {
  const places = new Map(begins.map((begin, index) => [begin, index]));
  const trends = new Map<string, number[]>();
  for (const counted of counts) {
    const trend = trends.get(keyOf(counted)) ?? begins.map(() => 0);
    const index = places.get(Date.parse(counted.at));
    if (index !== undefined) trend[index] = counted.count;
    trends.set(keyOf(counted), trend);
  }
  return trends;
}

interface View {
  groups: ErrorGroups;
  rows: Html[];
  more: Html;
  window: WindowName;
  automation_id: string | undefined;
  /** Of this automation. */
  name: string | undefined;
}

function bodyOf(
  { groups, rows, more, window, automation_id, name }: View,
  { organization, zone }: Visit,
  console: Console,
): Html {
  const address = (each: WindowName): string => site(console, organization, { window: each, automation_id });
  const words = windows[window].words.toLowerCase();
  const list = html`<table class="rows errors">
    <thead>
      <tr>
        <th scope="col">Error</th>
        <th scope="col">Automation</th>
        <th scope="col" class="number">Count</th>
        <th scope="col">Trend</th>
        <th scope="col">First seen</th>
        <th scope="col">Last seen</th>
        <th scope="col"><span class="hidden">Newest execution</span></th>
      </tr>
    </thead>
    <tbody id="rows">
      ${rows}
    </tbody>
  </table>`;
  const isCut =
    Date.parse(groups.from) > stepsOf(window, Date.parse(groups.to), zone).from.getTime() + 1_000 &&
    groups.items.length > 0;
  return html`<div class="head">
      <h1>Errors</h1>
      ${automation_id !== undefined && html`<a class="chip" href="${site(console, organization, { window })}" title="Remove this filter: ${automation_id}">automation <bdi>${name ?? shortenUuid(automation_id)}</bdi><span aria-hidden="true">×</span></a>`}${windowChoice(windowNames, window, address)}
    </div>
    <div class="card">
      ${
        rows.length > 0
          ? list
          : html`<div class="empty calm">
              ${icon('succeeded')}
              <h2>No error in the ${words}</h2>
              <p>Executions with an ERROR event appear here, grouped by automation and error_id.</p>
            </div>`
      }
    </div>
    ${isCut && html`<p class="quiet">Only the newest 10,000 errors are counted, since ${zone.minute(Date.parse(groups.from))}.</p>`}
    ${more}`;
}

interface Row {
  group: ErrorGroup;
  trend: readonly number[];
  /** When the first and the last error happened. */
  seen: ErrorTimes;
  /** Of the automation. */
  name: string | undefined;
  window: WindowName;
}

function row({ group, seen, trend, name, window }: Row, { organization, now }: Visit, { site }: Console): Html {
  const { automation, error_id, count, latest_execution_id } = group;
  const href = site.of(organization, 'executions', { error_id, automation_id: automation, state: 'failed', window });
  return html`<tr data-row>
    <td>
      <a class="row-link name" href="${href}" title="${error_id}"
        ><bdi>${error_id === '' ? 'without an error_id' : error_id}</bdi></a
      >
    </td>
    <td>${automationLink(site.automation(organization, automation), automation, name)}</td>
    <td class="number">${formatNumber(count)}</td>
    <td>${sparkline(trend)}</td>
    <td>${age(seen.first, now)}</td>
    <td>${age(seen.last, now)}</td>
    <td>
      <a
        class="button small"
        href="${site.execution(organization, automation, latest_execution_id)}"
        title="${latest_execution_id}"
        >Newest</a
      >
    </td>
  </tr>`;
}
