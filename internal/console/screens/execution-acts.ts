import { endings } from '../../event/closing.ts';
import { html, type Html } from '../../kit/html/html.ts';
import { leadTo } from '../../login/page.ts';
import { Fault } from '../../readapi/fault.ts';
import { oneOf } from '../../readapi/parameters.ts';
import type { NewAct } from '../../record/acts.ts';
import { field, formIdField, formIdOf, malformed, readForm, type Form } from '../forms.ts';
import { automationOf, executionIdOf, nothingHere } from '../path-ids.ts';
import { owns } from '../viewer.ts';
import type { Console, Screen, Visit } from '../visit.ts';
import type { ExecutionView } from './execution-view.ts';
import { noteField, noteOf } from './mutes.ts';

const path = '/executions/:automation/:execution';
const endingOf = oneOf(endings);

/** Writes a note on an execution. */
export const noteExecution: Screen = {
  path: `${path}/note`,
  method: 'POST',
  owner: true,
  answer: async (visit, console) => {
    const given = await readForm(visit.ctx);
    const run = { automationId: automationOf(visit), executionId: executionIdOf(visit) };
    const act: NewAct = { ...signedBy(visit, given), ...run, kind: 'note' };
    await visit.noteFirst('noted', `a run of ${run.automationId}`);
    if (!(await console.acts.add(act))) throw nothingHere('There is no such execution: it has expired, or was erased.');
    leadBack(run, visit, console);
  },
};

/** Ends a run that will not end by itself. A worker records the events. */
export const closeExecution: Screen = {
  path: `${path}/close`,
  method: 'POST',
  owner: true,
  answer: async (visit, console) => {
    const given = await readForm(visit.ctx);
    const as = endingOf(given('as'));
    if (as instanceof Fault) throw malformed('Say what became of the run.');
    const run = { automationId: automationOf(visit), executionId: executionIdOf(visit) };
    const act: NewAct = { ...signedBy(visit, given), ...run, kind: 'close', as };
    await visit.noteFirst('closed', `a run of ${run.automationId} as ${as}`);
    if (!(await console.acts.add(act))) throw malformed('The run has ended: there is nothing to close.');
    leadBack(run, visit, console);
  },
};

/** The forms below an execution, for owners. */
export function executionForms(
  { execution, acts }: ExecutionView,
  { viewer, organization }: Visit,
  { site }: Console,
): Html | false {
  if (!owns(viewer, organization)) return false;
  const { automation, execution_id, state } = execution;
  const address = site.execution(organization, automation, execution_id);
  const isOpen = state === 'running' || state === 'lost';
  const isClosing = acts.some(({ kind, recorded }) => kind === 'close' && !recorded);
  return html`<div class="columns">
    <form class="card padded fields" method="post" action="${address}/note">
      <h2>Write a note</h2>
      ${formIdField()} ${noteField('Note', 'Shown in the timeline, to everybody who sees this execution.')}
      <p class="actions"><button class="primary">Write it</button></p>
    </form>
    ${
      isOpen &&
      !isClosing &&
      html`<form class="card padded fields" method="post" action="${address}/close">
        <h2>Close this run</h2>
        ${formIdField()}
        ${field(
          'What became of it',
          html`<select name="as">
            <option value="lost">It is lost: it has failed</option>
            <option value="ended">It has ended well</option>
          </select>`,
        )}
        ${noteField('How you know', 'The reason is recorded in the events that end the run.')}
        <p class="actions"><button class="danger">Close the run</button></p>
      </form>`
    }
  </div>`;
}

function signedBy({ organization, viewer }: Visit, given: Form) {
  return { organization, id: formIdOf(given), by: viewer.name, note: noteOf(given) };
}

function leadBack(
  { automationId, executionId }: { automationId: string; executionId: string },
  visit: Visit,
  { site }: Console,
): void {
  leadTo(visit.ctx, `${site.publicUrl.origin}${site.execution(visit.organization, automationId, executionId)}`);
}
