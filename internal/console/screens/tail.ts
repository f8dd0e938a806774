import { oneOf } from '../../readapi/parameters.ts';
import { readQuery } from '../../readapi/query.ts';
import { shownTexts } from '../../event/fields.ts';
import { eventKinds, type EventKind } from '../../event/schema.ts';
import { answerHtml } from '../../kit/html/answer-html.ts';
import { html, type Html } from '../../kit/html/html.ts';
import type { StoredEvent } from '../../record/stored-event.ts';
import { sendLive } from '../live.ts';
import { readNames, type NameOfAutomation } from '../names.ts';
import { shortenId } from '../parts/format.ts';
import { automationLink } from '../parts/ids.ts';
import { kindMark, marksOf } from '../parts/marks.ts';
import { clockTime, happenedAt } from '../parts/time.ts';
import type { Site } from '../site.ts';
import type { Console, Screen, Visit } from '../visit.ts';
import { givenOf } from './execution-filters.ts';
import { firstEvent } from './no-executions.ts';

/** Number of events that the page begins with. */
const first = 100;

/** Maximum characters of a text in a line. */
const longest = 300;

const table = { kind: oneOf(eventKinds) } as const;

/** Events as they are stored, newest at the end. */
export const tail: Screen = {
  path: '/tail',
  texts: true,
  answer: async (visit, console) => {
    const { viewer, organization } = visit;
    const { kind } = readQuery({ querystring: givenOf(visit.ctx).toString() }, table);
    const [{ items }, nameOf] = await Promise.all([
      console.record.listEvents(organization, { kind }, { limit: first }),
      readNames(visit, console),
    ]);
    const lines = items.toReversed().map((event) => line(event, organization, console.site, nameOf));
    const body = bodyOf(kind, lines, visit, console);
    const page = { title: 'Tail', viewer, organization, section: 'tail', scripts: ['tail.js'], body } as const;
    answerHtml(visit.ctx, console.page(page));
  },
};

/** Streams the lines of events that are stored from now on. */
export const liveTail: Screen = {
  path: '/tail/live',
  limit: 'streams',
  answer: async (visit, console) => {
    const { kind } = readQuery(visit.ctx, table);
    // Names declared later appear when the page is reloaded.
    const nameOf = await readNames(visit, console);
    await sendLive(visit, console, ({ events }) =>
      events
        .filter(({ event }) => kind === undefined || event.type_of_event === kind)
        .map(({ event }) => ({ name: 'line', markup: line(event, visit.organization, console.site, nameOf) })),
    );
  },
};

function bodyOf(kind: EventKind | undefined, lines: Html[], visit: Visit, console: Console): Html {
  const { organization } = visit;
  const { site } = console;
  const live = site.of(organization, 'tail/live', { kind });
  const choice = (value: EventKind | undefined): Html =>
    html`<a href="${site.of(organization, 'tail', { kind: value })}" ${value === kind && html`aria-current="true"`}
      >${value === undefined ? 'All' : kindMark(value)}</a
    >`;
  return html`<div class="head">
      <h1>Tail</h1>
      <span class="live" data-live role="status">Live</span>
      <nav class="segments right" aria-label="Kind of event">${[undefined, ...eventKinds].map(choice)}</nav>
    </div>
    <div class="card tail-card" hx-sse:connect="${live}" hx-trigger="load, retry" hx-swap="none" data-tail-stream>
      <ol class="tail" tabindex="0" aria-label="Events, the newest at the end" data-tail>
        ${lines}
      </ol>
      ${
        lines.length === 0 &&
        (kind === undefined
          ? firstEvent(visit, console)
          : html`<div class="empty">
              <h2>No ${kind} event yet</h2>
              <p>The next one appears here.</p>
            </div>`)
      }
      <button type="button" class="pill end" data-end hidden>To the end</button>
    </div>
    <p class="quiet omitted" data-omitted hidden></p>`;
}

/** A line of the tail. Long texts are cut; the page of the execution shows them in full. */
function line(event: StoredEvent, organization: string, site: Site, nameOf: NameOfAutomation): Html {
  const { automation, execution_id, type_of_event } = event;
  const id = automation.toLowerCase();
  const text = shownTexts(event, 'sentences')
    .map((each) => each.text)
    .join(' · ');
  return html`<li>
    ${clockTime(happenedAt(event))} ${kindMark(type_of_event)}
    ${automationLink(site.automation(organization, id), id, nameOf(id))}
    <a class="mono" href="${site.execution(organization, id, execution_id)}" title="${execution_id}"
      ><bdi>${shortenId(execution_id, 28)}</bdi></a
    >
    <span class="what">${marksOf(event)}<bdi>${text.slice(0, longest)}${text.length > longest && '…'}</bdi></span>
  </li>`;
}
