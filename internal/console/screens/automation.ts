import { oneOf } from '../../readapi/parameters.ts';
import { readQuery } from '../../readapi/query.ts';
import { leadTo } from '../../login/page.ts';
import { answerHtml } from '../../kit/html/answer-html.ts';
import { html, type Html } from '../../kit/html/html.ts';
import type { Act } from '../../record/acts.ts';
import type { AutomationDetail, SeriesPoint } from '../../record/automation.ts';
import { runsChart } from '../charts/runs-chart.ts';
import { stateChart } from '../charts/state-chart.ts';
import { trendChart } from '../charts/trend-chart.ts';
import type { Declaration } from '../../record/declaration.ts';
import { nameOf } from '../parts/verdicts.ts';
import { ownership } from './automations.ts';
import { expectations } from './expectations.ts';
import { consoleNamespace } from '../../expectation/read-automation.ts';
import { owns } from '../viewer.ts';
import { isElsewhere } from '../../readapi/manage-automations.ts';
import { automationOf, nothingHere } from '../path-ids.ts';
import { count, formatDuration, formatNumber, formatShare, shortenUuid } from '../parts/format.ts';
import { actTable, muteNotice } from '../parts/acts.ts';
import { copyButton } from '../parts/ids.ts';
import { icon, stateMark } from '../parts/marks.ts';
import { tile } from '../parts/tile.ts';
import { windowChoice } from '../parts/window-choice.ts';
import { age } from '../parts/time.ts';
import { intervalOf, runsForRhythm, windowFor } from '../rhythm.ts';
import { automationWindows, stepsOf, windows, type AutomationWindow } from '../windows.ts';
import { beginOfStep } from '../../record/count-executions.ts';
import { wantsPart, type Console, type Screen, type Visit } from '../visit.ts';
import { executionRow, rowHeadings } from './execution-row.ts';

/** Rows of the list; a link below leads to all of them. */
const listed = 15;

/** Acts of owners that are listed. */
const listedActs = 8;

const windowParameter = { window: oneOf(automationWindows) } as const;

/** One automation: its last runs, their durations, and its executions by state. */
export const automation: Screen = {
  path: '/automations/:automation',
  answer: async (visit, console) => {
    const { window: chosen } = readQuery(visit.ctx, windowParameter);
    const id = automationOf(visit);
    const { record } = console;
    const [[newest], [declaration]] = await Promise.all([
      record.newestRuns(visit.organization, runsForRhythm, [id]),
      record.listDeclarations(visit.organization, [id]),
    ]);
    const window = chosen ?? windowFor(intervalOf(newest?.runs ?? [], declaration?.expect ?? null, visit.now));
    const steps = stepsOf(window, visit.now, visit.zone);
    const step = window === '24h' ? 'hour' : 'day';
    const detail = await record.getAutomation(visit.organization, id, { ...steps, step });
    if (detail === undefined && declaration === undefined) {
      // Until the next tick only the console knows what an owner has just declared.
      if ((await console.automations.get(visit.organization, id)) === undefined)
        throw nothingHere('No such automation is recorded: it never reported, has expired, or was erased.');
      leadTo(visit.ctx, `${console.site.publicUrl.origin}${console.site.automation(visit.organization, id)}/report`);
      return;
    }
    const [judged, acts, mutes, isOverruled] = await Promise.all([
      expectations(id, declaration, visit, console),
      record.listActsOn(visit.organization, { automationId: id }, listedActs),
      record.listMutes(visit.organization),
      isOverruledHere(id, declaration, visit, console),
    ]);
    const own = mutes.filter(({ automation: muted }) => muted === null || muted === id);
    const part = partOf({ id, detail, declaration, judged, acts, mutes: own, isOverruled }, window, visit, console);
    if (wantsPart(visit.ctx)) {
      answerHtml(visit.ctx, part);
      return;
    }
    const { viewer, organization } = visit;
    const live = `${console.site.automation(organization, id)}/live`;
    const body = html`<div class="live-scope" hx-sse:connect="${live}" hx-trigger="load, retry" hx-swap="none">
      ${part}
    </div>`;
    const title = nameOf(declaration) ?? shortenUuid(id);
    answerHtml(visit.ctx, console.page({ title, viewer, organization, section: 'automations', body }));
  },
};

interface View {
  id: string;
  detail: AutomationDetail | undefined;
  declaration: Declaration | undefined;
  /** What is expected, and whether it was met. */
  judged: Html;
  /** True for an owner if the console declares it too, but a resource wins. */
  isOverruled: boolean;
  /** What owners did about it, newest first. */
  acts: readonly Act[];
  /** Mutes of it or of the organization. */
  mutes: readonly Act[];
}

function partOf(
  { id, detail, declaration, judged, acts, mutes, isOverruled }: View,
  window: AutomationWindow,
  visit: Visit,
  console: Console,
): Html {
  const { site } = console;
  const { organization, now } = visit;
  const address = site.automation(organization, id);
  return html`<article
    id="automation"
    hx-get="${address}?window=${window}"
    hx-trigger="change from:'closest .live-scope' throttle:5s"
    hx-swap="outerMorph"
  >
    <nav class="crumbs" aria-label="Place"><a href="${site.of(organization, 'automations')}">Automations</a></nav>
    <div class="head execution-head">
      ${titleOf(id, declaration, visit, console)} ${manageLinks(id, declaration, visit, console)}
      ${windowChoice(automationWindows, window, (name) => `${address}?window=${name}`)}
    </div>
    ${
      detail?.last_execution &&
      html`<p class="big-state">
        ${stateMark(detail.last_execution.state)}
        <span class="quiet">${age(detail.last_execution.first_event_at, now)}</span>
      </p>`
    }
    ${muteNotice(mutes, visit, site, () => nameOf(declaration))} ${isOverruled && overruledNotice(id, visit, console)}
    ${judged} ${detail?.last_execution ? runsOf(detail, window, visit, console) : firstRun}
    ${
      acts.length > 0 &&
      html`<section class="card" aria-labelledby="acts-title">
        <header><h2 id="acts-title">What owners did</h2></header>
        ${actTable(acts, visit, site)}
      </section>`
    }
  </article>`;
}

/** True for an owner of an automation that the console declares, while a resource wins. */
async function isOverruledHere(
  id: string,
  declaration: Declaration | undefined,
  { viewer, organization }: Visit,
  { automations }: Console,
): Promise<boolean> {
  if (!owns(viewer, organization) || !isElsewhere(declaration)) return false;
  return (await automations.get(organization, id)) !== undefined;
}

function overruledNotice(id: string, { organization }: Visit, { site }: Console): Html {
  return html`<form class="notice" method="post" action="${site.of(organization, `automations/${id}/remove`)}">
    <p>This console or the API declares it too. What is declared elsewhere wins, until it is removed there.</p>
    <button class="danger">Remove the console’s declaration</button>
  </form>`;
}

const firstRun = html`<div class="card">
  <div class="empty">
    <h2>No execution yet</h2>
    <p>Its first event creates the first execution.</p>
  </div>
</div>`;

/** The name of an automation with its id, or the id alone. */
function titleOf(id: string, declaration: Declaration | undefined, { organization }: Visit, { site }: Console): Html {
  const copy = copyButton(id, 'the id of the automation');
  const called = nameOf(declaration);
  if (declaration === undefined || called === undefined) return html`<h1 class="mono">${id}${copy}</h1>`;
  const { namespace, name, links } = declaration;
  return html`<div class="declared">
    <h1><bdi>${called}</bdi></h1>
    <p class="quiet">
      <span class="mono">${id}${copy}</span>
      ${declaration.declared && (namespace === consoleNamespace ? 'declared in this console' : html`declared as <bdi>${namespace}/${name}</bdi>`)}
      ${ownership(declaration, organization, site)}
      ${links.map(({ title, url }) => html`· <a href="${url}" rel="noopener noreferrer"><bdi>${title}</bdi></a>`)}
    </p>
  </div>`;
}

/** Asks for a name if there is none. What a resource declares is changed in that resource. */
function manageLinks(
  id: string,
  declaration: Declaration | undefined,
  { viewer, organization }: Visit,
  { site }: Console,
): Html {
  const words =
    declaration?.declared === true ? 'Edit' : nameOf(declaration) === undefined ? 'Give it a name' : 'Declare';
  return html`<span class="manage">
    ${owns(viewer, organization) && !isElsewhere(declaration) && html`<a class="button small" href="${site.of(organization, 'automations/new', { id })}">${words}</a>`}
    ${owns(viewer, organization) && html`<a class="button small" href="${site.of(organization, 'mutes', { automation_id: id })}">Mute</a>`}
    <a class="button small" href="${site.of(organization, `automations/${id}/report`)}">Report its runs</a>
    ${declaration?.declared && html`<a class="button small" href="${site.of(organization, 'automations.yaml', { id })}">As YAML</a>`}
  </span>`;
}

/** The executions of an automation: figures, charts and the newest rows. */
function runsOf(detail: AutomationDetail, window: AutomationWindow, visit: Visit, { site }: Console): Html {
  const { automation: id, executions } = detail;
  const { organization, zone } = visit;
  const list = (parameters: Record<string, string>): string =>
    site.of(organization, 'executions', { automation_id: id, ...parameters });
  return html`${figures(detail, window, list)}
    <section class="card" aria-labelledby="runs-title">
      <header>
        <h2 id="runs-title">Last ${count(executions.length, 'execution')}</h2>
        <span class="quiet">height is the duration</span>
      </header>
      ${runsChart(executions, zone, (executionId) => site.execution(organization, id, executionId))}
    </section>
    <div class="columns">${series(detail, window, visit, list)}</div>
    <section class="card" aria-label="Newest executions">
      <table class="rows executions own">
        ${rowHeadings}
        <tbody>
          ${executions.slice(0, listed).map((item) => executionRow(item, visit, site))}
        </tbody>
      </table>
    </section>
    <div id="more"><a class="button" href="${list({})}">All executions of this automation</a></div>`;
}

type ListAddress = (parameters: Record<string, string>) => string;

function figures(
  { window: { counts, p50_ms, p95_ms } }: AutomationDetail,
  window: AutomationWindow,
  list: ListAddress,
): Html {
  const all = counts.failed + counts.running + counts.succeeded;
  const duration = (ms: number | null): string => (ms === null ? '–' : formatDuration(ms));
  const plain = { tone: '', mark: '' };
  return html`<div class="tiles">
    ${tile({ ...plain, title: 'Executions', figure: formatNumber(all), note: windows[window].words.toLowerCase(), href: list({ window }) })}
    ${tile({
      title: 'Failed',
      figure: formatShare(counts.failed, all),
      note: count(counts.failed, 'execution'),
      href: list({ window, state: 'failed' }),
      tone: counts.failed > 0 ? 'failed' : '',
      mark: icon('failed'),
    })}
    ${tile({ ...plain, title: 'Median duration', figure: duration(p50_ms), note: 'p50, from first event to END', href: list({ window, state: 'succeeded' }) })}
    ${tile({ ...plain, title: '95 % end within', figure: duration(p95_ms), note: 'p95, from first event to END', href: list({ window, state: 'succeeded' }) })}
  </div>`;
}

function series(detail: AutomationDetail, window: AutomationWindow, { now, zone }: Visit, list: ListAddress): Html {
  const stepMs = window === '24h' ? 3_600_000 : 86_400_000;
  const whole = stepsOf(window, now, zone);
  const steps = { ...whole, stepMs, from: new Date(beginOfStep(whole.from.getTime(), { ...whole, stepMs })) };
  const at = (ms: number): string => new Date(ms).toISOString();
  const points: SeriesPoint[] = detail.series;
  return html`<section class="card" aria-labelledby="states-title">
      <header><h2 id="states-title">By state</h2></header>
      ${stateChart(points, steps, zone, (begin) => list({ from: at(begin), to: at(begin + stepMs) }))}
    </section>
    <section class="card" aria-labelledby="trend-title">
      <header><h2 id="trend-title">Duration</h2></header>
      ${trendChart(points, steps, zone)}
    </section>`;
}
