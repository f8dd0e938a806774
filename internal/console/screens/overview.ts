import { readQuery } from '../../readapi/query.ts';
import { answerHtml } from '../../kit/html/answer-html.ts';
import { html, type Html } from '../../kit/html/html.ts';
import { stripRuns } from '../charts/strip.ts';
import { stateChart } from '../charts/state-chart.ts';
import { automationViews, healthOf, type Health } from '../health.ts';
import { count, formatNumber, formatShare } from '../parts/format.ts';
import { muteNotice } from '../parts/acts.ts';
import { icon, type IconName } from '../parts/marks.ts';
import type { Behind } from '../behind.ts';
import { tile, type Tile } from '../parts/tile.ts';
import { attentionsOf } from '../attention.ts';
import { stepsOf, windowNames, windowParameter, type WindowName } from '../windows.ts';
import { windowChoice } from '../parts/window-choice.ts';
import { wantsPart, type Console, type Screen, type Visit } from '../visit.ts';
import type { OverviewData } from '../overview-data.ts';
import { namesOf } from '../names.ts';
import { readBehind } from './blindness.ts';
import { readOverdue } from './read-overdue.ts';
import { attentionList } from './attention-list.ts';
import { failingList, newestErrors } from './overview-lists.ts';
import { firstEvent } from './no-executions.ts';

/** Maximum number of error groups and of failing automations in the lists. */
const listed = 8;

/** Number of runs from which the health of an automation is derived. */
const runsForHealth = 5;

/** How long viewers share the figures of an overview, in ms. Each open overview asks every 5 s. */
export const overviewMs = 2_000;

/**
 * When an overview asks again. Shared figures may be older than a change: it asks once more when
 * they have expired.
 */
const onChange = ['throttle:5s', `delay:${overviewMs + 100}ms`]
  .map((when) => `change from:'closest .live-scope' ${when}`)
  .join(', ');

/** What fails, what runs, and what is overdue. */
export const overview: Screen = {
  path: '',
  answer: async (visit, console) => {
    const { window = '24h' } = readQuery(visit.ctx, windowParameter);
    const key = `${visit.organization} ${window} ${visit.zone.offsetOf(visit.now)}`;
    const data = await console.overviews.get(key, () => readOverview(visit, console, window));
    const part = partOf(data, visit, console);
    if (wantsPart(visit.ctx)) {
      answerHtml(visit.ctx, part);
      return;
    }
    const { viewer, organization } = visit;
    const live = console.site.of(organization, 'live');
    const body = html`<div class="live-scope" hx-sse:connect="${live}" hx-trigger="load, retry" hx-swap="none">
      ${part}
    </div>`;
    answerHtml(visit.ctx, console.page({ title: 'Overview', viewer, organization, section: '', body }));
  },
};

async function readOverview(
  { organization, now, zone }: Visit,
  console: Console,
  window: WindowName,
): Promise<OverviewData> {
  const { record, overdueAfterMs } = console;
  const steps = stepsOf(window, now, zone);
  const overdueBefore = new Date(now - overdueAfterMs);
  const [counted, running, runs, errors, declared, overdue, behind, mutes, acknowledged] = await Promise.all([
    record.countExecutions(organization, steps),
    record.countRunning(organization, overdueBefore),
    record.newestRuns(organization, runsForHealth),
    record.listErrors(organization, steps, { limit: listed }),
    record.listDeclarations(organization),
    readOverdue(organization, now, console),
    readBehind(console, organization),
    record.listMutes(organization),
    record.listAcknowledged(organization),
  ]);
  const healths = runs.flatMap(healthOf);
  const views = automationViews(healths, declared);
  const failing = healths.filter(isFailing);
  const shown = failing.toSorted(newestFailureFirst).slice(0, listed);
  const ids = shown.map(({ automation }) => automation);
  const failingRuns = ids.length === 0 ? [] : await record.newestRuns(organization, stripRuns, ids);
  return {
    window,
    steps,
    counted,
    running,
    automations: views.length,
    failing: failing.length,
    hasRun: healths.length > 0,
    waiting: declared.find(({ declared: isDeclared }) => isDeclared)?.automation,
    failingShown: failingRuns.flatMap(healthOf).sort(newestFailureFirst),
    errors: errors.items,
    attentions: attentionsOf(views, overdue),
    behind,
    mutes,
    acknowledged,
    names: namesOf(declared),
  };
}

function isFailing({ failuresInARow }: Health): boolean {
  return failuresInARow > 0;
}

function newestFailureFirst(a: Health, b: Health): number {
  return b.last.first_event_at.localeCompare(a.last.first_event_at);
}

function partOf(data: OverviewData, visit: Visit, console: Console): Html {
  const { site } = console;
  const { organization } = visit;
  const { window } = data;
  return html`<div
    id="overview"
    hx-get="${site.of(organization, '', { window })}"
    hx-trigger="${onChange}"
    hx-swap="outerMorph"
  >
    <div class="head">
      <h1>Overview</h1>
      <span class="live" data-live role="status">Live</span>
      ${windowChoice(windowNames, window, (name) => site.of(organization, '', { window: name }))}
    </div>
    ${!data.hasRun && html`<div class="card">${firstEvent(visit, console, data.waiting)}</div>`}
    ${data.automations > 0 && figures(data, visit, console)}
  </div>`;
}

function attentionTile(
  { attentions, automations, behind }: OverviewData,
  { organization }: Visit,
  site: Console['site'],
): Html {
  const { length } = attentions.needed;
  return tile({
    title: 'Needs attention',
    figure: formatNumber(length),
    note: `of ${count(automations, 'automation')}`,
    href: site.of(organization, 'automations', { state: 'attention' }),
    ...calmUnless(length > 0, 'missing', behind),
  });
}

/** The looks of a tile: not calm while the record is behind. */
function calmUnless(isBad: boolean, bad: IconName, behind: Behind | undefined): Pick<Tile, 'tone' | 'mark'> {
  if (isBad) return { tone: 'failed', mark: icon(bad) };
  return behind === undefined ? { tone: 'succeeded', mark: icon('succeeded') } : { tone: '', mark: icon('unknown') };
}

function figures(data: OverviewData, visit: Visit, { site, overdueAfterMs }: Console): Html {
  const { organization, now, zone } = visit;
  const { counted, steps, running, attentions, failing, window } = data;
  const total = (state: 'running' | 'failed' | 'succeeded'): number =>
    counted.reduce((sum, { counts }) => sum + counts[state], 0);
  const all = total('running') + total('failed') + total('succeeded');
  const list = (parameters: Record<string, string>): string => site.of(organization, 'executions', parameters);
  const beforeOverdue = new Date(now - overdueAfterMs).toISOString();
  const more = running.more ? ' or more' : '';
  const at = (ms: number): string => new Date(ms).toISOString();
  return html`<div class="tiles">
      ${attentionTile(data, visit, site)}
      ${tile({
        title: 'Failing now',
        figure: formatNumber(failing),
        note: attentions.allowed > 0 ? `${formatNumber(attentions.allowed)} as expectations allow` : 'in the last run',
        href: site.of(organization, 'automations', { state: 'failing' }),
        ...calmUnless(failing > 0, 'failed', data.behind),
      })}
      ${tile({
        title: 'Running',
        figure: `${formatNumber(running.running)}${more}`,
        note: 'without an END yet',
        href: list({ state: 'running' }),
        tone: 'running',
        mark: icon('running'),
      })}
      ${tile({
        title: 'Overdue',
        figure: formatNumber(running.overdue),
        note: `running for over ${Math.round(overdueAfterMs / 3_600_000)} h`,
        href: list({ state: 'running', to: beforeOverdue }),
        tone: running.overdue > 0 ? 'warning' : '',
        mark: icon('overdue'),
      })}
      ${tile({
        title: 'Failure rate',
        figure: formatShare(total('failed'), all),
        note: `${formatNumber(total('failed'))} of ${count(all, 'execution')}`,
        href: list({ state: 'failed', window }),
        tone: '',
        mark: '',
      })}
    </div>
    ${muteNotice(data.mutes, visit, site, (id) => data.names.get(id))} ${attentionList(data, visit, site)}
    <section class="card" aria-labelledby="chart-title">
      <header>
        <h2 id="chart-title">Executions by state</h2>
        <span class="quiet">each bar leads to its executions</span>
      </header>
      ${stateChart(counted, steps, zone, (begin) => list({ from: at(begin), to: at(begin + steps.stepMs) }))}
    </section>
    <div class="columns">${failingList(data, visit, site)} ${newestErrors(data, visit, site, window)}</div>`;
}
