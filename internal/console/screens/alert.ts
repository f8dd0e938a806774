import { answerHtml } from '../../kit/html/answer-html.ts';
import { html, type Html } from '../../kit/html/html.ts';
import { leadTo } from '../../login/page.ts';
import type { Alert } from '../../record/alert.ts';
import { formIdField, formIdOf, malformed, readForm } from '../forms.ts';
import { readNames } from '../names.ts';
import { alertTable } from '../parts/history.ts';
import { automationOf, nothingHere } from '../path-ids.ts';
import { owns } from '../viewer.ts';
import type { Console, Screen, Visit } from '../visit.ts';
import { noteField, noteOf } from './mutes.ts';

/** One alert, and for owners the form to acknowledge it. */
export const alert: Screen = {
  path: '/alerts/:alert',
  answer: async (visit, console) => {
    const { viewer, organization } = visit;
    const { site } = console;
    const [shown, nameOf] = await Promise.all([alertOf(visit, console), readNames(visit, console)]);
    const { facts } = shown;
    const run = typeof facts['execution'] === 'string' ? facts['execution'] : undefined;
    const mayAct = owns(viewer, organization) && shown.resolved_at === null;
    const body = html`<nav class="crumbs" aria-label="Place">
        <a href="${site.of(organization, 'alerts')}">Alerts</a>
      </nav>
      <div class="head">
        <h1>Alert</h1>
        <div class="actions">
          ${run !== undefined && html`<a class="button" href="${site.execution(organization, shown.automation, run)}">Its run</a>`}
          ${mayAct && html`<a class="button" href="${site.of(organization, 'mutes', { automation_id: shown.automation })}">Mute</a>`}
        </div>
      </div>
      <div class="card">${alertTable([shown], visit, site, nameOf)}</div>
      ${mayAct && form(shown, visit, console)}`;
    answerHtml(visit.ctx, console.page({ title: 'Alert', viewer, organization, section: 'alerts', body }));
  },
};

/** Says who takes care of an alert: nobody is reminded of it again. */
export const acknowledge: Screen = {
  path: '/alerts/:alert/acknowledge',
  method: 'POST',
  owner: true,
  answer: async (visit, console) => {
    const { ctx, organization, viewer } = visit;
    const given = await readForm(ctx);
    const [id, note] = [automationOf(visit), noteOf(given)];
    await alertOf(visit, console);
    await visit.noteFirst('acknowledged', `alert ${id}`);
    const act = { organization, id: formIdOf(given), by: viewer.name, note, kind: 'acknowledge', alert: id } as const;
    if (!(await console.acts.add(act))) throw malformed('The alert is over: there is nothing to acknowledge.');
    const { site } = console;
    leadTo(ctx, `${site.publicUrl.origin}${site.of(organization, `alerts/${id}`)}`);
  },
};

/** @throws {RequestError} 404 if the organization has no such alert. */
async function alertOf(visit: Visit, { record }: Console): Promise<Alert> {
  const { items } = await record.listAlerts(visit.organization, { id: automationOf(visit) }, { limit: 1 });
  const [found] = items;
  if (found === undefined) throw nothingHere('There is no such alert: it has expired, or was erased.');
  return found;
}

function form({ id }: Alert, { organization }: Visit, { site }: Console): Html {
  return html`<form
    class="card padded fields"
    method="post"
    action="${site.of(organization, `alerts/${id}/acknowledge`)}"
  >
    <h2>Acknowledge</h2>
    ${formIdField()}
    ${noteField('What do you do about it?', 'Everybody sees it beside the alert, and nobody is reminded again.')}
    <p class="actions"><button class="primary">Acknowledge</button></p>
  </form>`;
}
