import { answerHtml } from '../../kit/html/answer-html.ts';
import { answerJson } from '../../readapi/answer-json.ts';
import { html, type Html } from '../../kit/html/html.ts';
import { automationOf, executionIdOf, nothingHere } from '../path-ids.ts';
import { shortenId } from '../parts/format.ts';
import { readNames } from '../names.ts';
import { queryOf } from '../site.ts';
import { wantsPart, type Console, type Screen, type Visit } from '../visit.ts';
import type { ExecutionView } from './execution-view.ts';
import { anomalyNotes } from './execution-notes.ts';
import { executionForms } from './execution-acts.ts';
import { firstError } from './first-error.ts';
import { readTimelineQuery } from './timeline-query.ts';
import { executionFacts, executionHead } from './execution-head.ts';
import { timeline } from './timeline.ts';

/** Maximum events in a page of the timeline and in the JSON copy; the export has all of them. */
const mostEvents = 500;

/** Maximum bytes of their texts: markup may take twelve times as much memory. */
const mostBytes = 512 * 1_024;

/** Maximum acts of owners in a timeline: the newest. */
const mostActs = 100;

/** How long after the last event the page looks for more, in ms. */
const liveMs = 3_600_000;

const path = '/executions/:automation/:execution';

/** One execution: its state, its timeline, and its errors in full. */
export const execution: Screen = {
  path,
  texts: true,
  answer: async (visit, console) => {
    const view = await readView(visit, console);
    const part = partOf(view, visit, console);
    if (wantsPart(visit.ctx)) {
      answerHtml(visit.ctx, part);
      return;
    }
    const { automation, execution_id, state, last_event_at } = view.execution;
    const isLive = state === 'running' || state === 'lost' || visit.now - Date.parse(last_event_at) < liveMs;
    const live = `${console.site.execution(visit.organization, automation, execution_id)}/live`;
    const body = html`<div
        class="live-scope"
        ${isLive && html`hx-sse:connect="${live}" hx-trigger="load, retry" hx-swap="none"`}
      >
        ${part}
      </div>
      ${executionForms(view, visit, console)}`;
    const { viewer, organization } = visit;
    const title = shortenId(execution_id);
    answerHtml(visit.ctx, console.page({ title, viewer, organization, section: 'executions', body }));
  },
};

/** The execution as JSON, for the copy button. */
export const executionJson: Screen = {
  path: `${path}/json`,
  texts: true,
  answer: async (visit, console) => {
    const [automationId, executionId] = [automationOf(visit), executionIdOf(visit)];
    const { record } = console;
    const [execution, events] = await Promise.all([
      record.getExecution(visit.organization, automationId, executionId),
      record.listEvents(visit.organization, { automationId, executionId }, { limit: mostEvents, mostBytes }),
    ]);
    if (execution === undefined) throw nothingHere(noExecution);
    answerJson(visit.ctx, { ...execution, events: events.items });
  },
};

const noExecution = 'No such execution is recorded: it never reported, has expired, or was erased.';

/** @throws {RequestError} 404 if there is no such execution. */
async function readView(visit: Visit, console: Console): Promise<ExecutionView> {
  const { record } = console;
  const { organization } = visit;
  const query = readTimelineQuery(visit.ctx);
  const id = { automationId: automationOf(visit), executionId: executionIdOf(visit) };
  const request = { ...id, kind: query.kind, place: query.place, limit: mostEvents, mostBytes };
  const [execution, events, errors, seal, acts, nameOf] = await Promise.all([
    record.getExecution(organization, id.automationId, id.executionId),
    record.listTimeline(organization, request),
    record.listTimeline(organization, { ...id, kind: 'ERROR', limit: 1, mostBytes }),
    record.getSeal(organization, id),
    record.listActsOn(organization, id, mostActs),
    readNames(visit, console),
  ]);
  if (execution === undefined) throw nothingHere(noExecution);
  const around = await record.aroundExecution(organization, execution);
  return { execution, name: nameOf(id.automationId), query, events, errors, around, seal, acts };
}

function partOf(view: ExecutionView, visit: Visit, { site }: Console): Html {
  const { execution, query } = view;
  const address = site.execution(visit.organization, execution.automation, execution.execution_id);
  return html`<article
    id="execution"
    hx-get="${address}${queryOf(query.given)}"
    hx-trigger="change from:'closest .live-scope' throttle:1s"
    hx-swap="outerMorph"
  >
    ${executionHead(view, visit, site)} ${firstError(view, visit, site)} ${executionFacts(view, visit, site)}
    ${anomalyNotes(execution)} ${timeline(view, address, (id) => site.proof(visit.organization, id))}
  </article>`;
}
