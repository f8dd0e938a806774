import { shownTexts } from '../../event/fields.ts';
import { eventKinds } from '../../event/schema.ts';
import { answerHtml } from '../../kit/html/answer-html.ts';
import { html, type Content, type Html } from '../../kit/html/html.ts';
import { storableText } from '../../readapi/parameters.ts';
import { readQuery } from '../../readapi/query.ts';
import type { Execution } from '../../record/execution.ts';
import type { StoredEvent } from '../../record/stored-event.ts';
import { readNames } from '../names.ts';
import { formatDuration, formatNumber } from '../parts/format.ts';
import { automationLink, executionLink } from '../parts/ids.ts';
import { kindMark, stateMark } from '../parts/marks.ts';
import { age, duration } from '../parts/time.ts';
import { automationOf, executionIdOf, nothingHere } from '../path-ids.ts';
import type { Site } from '../site.ts';
import type { Console, Screen, Visit } from '../visit.ts';

/** Events of each run that are read at once, and the most bytes of their texts. */
const page = { limit: 500, mostBytes: 256 * 1_024 };

/** How many pages of each run are compared: the first 10,000 events. */
const mostPages = 20;

/** An execution beside the one before it, or beside the one that `with` names. */
export const compare: Screen = {
  path: '/executions/:automation/:execution/compare',
  texts: true,
  answer: async (visit, console) => {
    const { viewer, organization } = visit;
    const { site, record } = console;
    const [automation, executionId] = [automationOf(visit), executionIdOf(visit)];
    const { with: given } = readQuery(visit.ctx, { with: storableText(1, 500) });
    const run = await record.getExecution(organization, automation, executionId);
    if (run === undefined) throw nothingHere('No such execution is recorded.');
    const otherId = given ?? (await record.aroundExecution(organization, run)).previous;
    const other = otherId === null ? undefined : await record.getExecution(organization, automation, otherId);
    if (other === undefined) throw nothingHere('There is no earlier execution to compare with.');
    const [difference, nameOf] = await Promise.all([
      firstDifference(other, run, visit, console),
      readNames(visit, console),
    ]);
    const body = html`<nav class="crumbs" aria-label="Place">
        <a href="${site.of(organization, 'executions')}">Executions</a> <span aria-hidden="true">/</span>
        ${automationLink(site.automation(organization, automation), automation, nameOf(automation))}
      </nav>
      <div class="head"><h1>Compared with the run before</h1></div>
      ${figures(other, run, visit, site)} ${differenceCard(difference, other, run, visit, site)}`;
    answerHtml(visit.ctx, console.page({ title: 'Comparison', viewer, organization, section: 'executions', body }));
  },
};

/**
 * The first place at which two runs differ, counted from 1; their events there, if there are any.
 */
interface Difference {
  place: number;
  before: StoredEvent | undefined;
  after: StoredEvent | undefined;
}

/** Resolves with undefined if the runs are alike as far as they are compared. */
async function firstDifference(
  before: Execution,
  after: Execution,
  { organization }: Visit,
  { record }: Console,
): Promise<Difference | undefined> {
  const readers = [before, after].map((run) => {
    let last: StoredEvent | undefined;
    let hasMore = true;
    return async (): Promise<StoredEvent[]> => {
      if (!hasMore) return [];
      const place = last && { after: { createdAt: last.created_at, id: last.id } };
      const key = { automationId: run.automation, executionId: run.execution_id };
      const { items, more } = await record.listTimeline(organization, { ...key, place, ...page });
      last = items.at(-1) ?? last;
      hasMore = more;
      return items;
    };
  });
  const waiting: [StoredEvent[], StoredEvent[]] = [[], []];
  let place = 0;
  for (let pages = 0; pages < mostPages; pages += 1) {
    for (const [index, read] of readers.entries()) {
      const own = waiting[index];
      if (own?.length === 0) own.push(...(await read()));
    }
    const [olds, news] = waiting;
    if (olds.length + news.length === 0) return undefined;
    const shared = Math.min(olds.length, news.length);
    for (let index = 0; index < Math.max(shared, 1); index += 1) {
      place += 1;
      const [old, young] = [olds[index], news[index]];
      if (old === undefined || young === undefined || outlineOf(old) !== outlineOf(young))
        return { place, before: old, after: young };
    }
    olds.splice(0, shared);
    news.splice(0, shared);
  }
  return undefined;
}

/**
 * What counts of an event: its kind and its texts without their numbers, which differ in every run.
 */
function outlineOf(event: StoredEvent): string {
  const texts = shownTexts(event, 'mark').concat(shownTexts(event, 'sentences'));
  return [event.type_of_event, ...texts.map(({ text }) => text.replaceAll(/\d+/g, '#'))].join('\n');
}

function figures(before: Execution, after: Execution, { organization, now }: Visit, site: Site): Html {
  const runs = [before, after];
  const row = (title: Content, cell: (run: Execution) => Content, change: Content = ''): Html =>
    html`<tr>
      <th scope="row">${title}</th>
      ${runs.map((run) => html`<td>${cell(run)}</td>`)}
      <td class="number">${change}</td>
    </tr>`;
  const isOpen = ({ state }: Execution): boolean => state === 'running' || state === 'lost';
  const kinds = eventKinds.filter((kind) => runs.some(({ counts }) => counts[kind] > 0));
  return html`<section class="card" aria-label="Figures">
    <table class="rows comparison">
      <thead>
        <tr>
          <th scope="col"><span class="hidden">Figure</span></th>
          ${runs.map(({ automation, execution_id }, index) => html`<th scope="col">${index === 0 ? 'Before' : 'This run'} ${executionLink(site.execution(organization, automation, execution_id), execution_id)}</th>`)}
          <th scope="col" class="number">Change</th>
        </tr>
      </thead>
      <tbody>
        ${row('State', ({ state }) => stateMark(state))}
        ${row('Started', ({ first_event_at }) => age(first_event_at, now))}
        ${row('Duration', (run) => duration(run.duration_ms, run.first_event_at, now, isOpen(run)), longer(before, after))}
        ${kinds.map((kind) => row(kindMark(kind), ({ counts }) => formatNumber(counts[kind]), signed(after.counts[kind] - before.counts[kind], formatNumber)))}
      </tbody>
    </table>
  </section>`;
}

function longer(before: Execution, after: Execution): string {
  if (before.duration_ms === null || after.duration_ms === null) return '';
  return signed(after.duration_ms - before.duration_ms, formatDuration);
}

/** A change with its sign; nothing for none. */
function signed(change: number, format: (value: number) => string): string {
  return change === 0 ? '' : `${change > 0 ? '+' : '−'}${format(Math.abs(change))}`;
}

function differenceCard(
  difference: Difference | undefined,
  before: Execution,
  after: Execution,
  { organization }: Visit,
  site: Site,
): Html {
  const side = (title: string, run: Execution, event: StoredEvent | undefined): Html => {
    const address = site.execution(organization, run.automation, run.execution_id);
    const place = event && `${address}?around=${encodeURIComponent(`${event.created_at},${event.id}`)}#t-${event.id}`;
    return html`<div>
      <h3>${title}</h3>
      ${
        event === undefined
          ? html`<p class="quiet">No further event.</p>`
          : html`<p>${kindMark(event.type_of_event)} <a href="${place}">in its timeline</a></p>
              ${[...shownTexts(event, 'mark'), ...shownTexts(event, 'sentences')].map(({ text }) => html`<p class="text"><bdi>${text.slice(0, 2_000)}</bdi></p>`)}`
      }
    </div>`;
  };
  return html`<section class="card padded" aria-labelledby="difference-title">
    <h2 id="difference-title">First difference</h2>
    ${
      difference === undefined
        ? html`<p>None: all their events are alike, up to ${formatNumber(mostPages * page.limit)} of each.</p>`
        : html`<p>At event ${formatNumber(difference.place)}. Numbers in texts are not compared.</p>
            <div class="columns">
              ${side('Before', before, difference.before)} ${side('This run', after, difference.after)}
            </div>`
    }
  </section>`;
}
