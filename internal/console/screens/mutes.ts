import { problemOfWindow } from '../../expectation/mute.ts';
import { answerHtml } from '../../kit/html/answer-html.ts';
import { html, type Html } from '../../kit/html/html.ts';
import { leadTo } from '../../login/page.ts';
import { Fault } from '../../readapi/fault.ts';
import { storableText, uuid } from '../../readapi/parameters.ts';
import { readQuery } from '../../readapi/query.ts';
import type { Act, MuteWindow } from '../../record/acts.ts';
import { field, formIdField, formIdOf, malformed, readForm, type Form } from '../forms.ts';
import { readNames, type NameOfAutomation } from '../names.ts';
import { muteWords } from '../parts/acts.ts';
import { shortenUuid } from '../parts/format.ts';
import { automationOf } from '../path-ids.ts';
import { owns } from '../viewer.ts';
import type { Console, Screen, Visit } from '../visit.ts';

const hourMs = 3_600_000;

/** The longest time for which a mute may hold, in ms. */
const longestMs = 366 * 24 * hourMs;

/** Why somebody acts, in that person's words. */
const reason = storableText(1, 500);

/** The mutes of the organization, and for owners the forms to make and end them. */
export const mutes: Screen = {
  path: '/mutes',
  answer: async (visit, console) => {
    const { automation_id: automationId } = readQuery(visit.ctx, { automation_id: uuid });
    const { viewer, organization } = visit;
    const [all, nameOf] = await Promise.all([console.record.listMutes(organization), readNames(visit, console)]);
    const isOwner = owns(viewer, organization);
    const body = html`<nav class="crumbs" aria-label="Place">
        <a href="${console.site.of(organization, 'alerts')}">Alerts</a>
      </nav>
      <div class="head"><h1>Mutes</h1></div>
      <section class="card" aria-label="Mutes">
        ${all.length === 0 ? noMute(organization) : list(all, isOwner, visit, console, nameOf)}
      </section>
      ${isOwner && forms(automationId, visit, console, nameOf)}`;
    answerHtml(visit.ctx, console.page({ title: 'Mutes', viewer, organization, section: 'alerts', body }));
  },
};

/** Mutes an automation or the organization. */
export const mute: Screen = {
  path: '/mutes',
  method: 'POST',
  owner: true,
  answer: async (visit, { acts, site }) => {
    const { ctx, organization, viewer, zone } = visit;
    const given = await readForm(ctx);
    const automationId = given('automation_id') === '' ? undefined : uuid(given('automation_id'));
    if (automationId instanceof Fault) throw malformed('The form is incomplete: open its page again.');
    const window = windowOf(given);
    const until = given('until') === '' ? undefined : new Date(zone.momentOf(given('until')));
    const isBounded = until !== undefined && until.getTime() > visit.now && until.getTime() < visit.now + longestMs;
    if (!isBounded && (window === undefined || until !== undefined))
      throw malformed('Mute until a time within a year from now.');
    const act = { organization, id: formIdOf(given), by: viewer.name, note: noteOf(given) };
    await visit.noteFirst(
      'muted',
      `${automationId ?? 'the organization'} until ${until?.toISOString() ?? 'somebody ends it'}`,
    );
    if (!(await acts.add({ ...act, kind: 'mute', automationId, until, window }))) {
      throw malformed('The organization has 500 mutes: end some first.');
    }
    leadTo(ctx, `${site.publicUrl.origin}${site.of(organization, 'mutes')}`);
  },
};

/** Ends a mute early. */
export const endMute: Screen = {
  path: '/mutes/:mute/end',
  method: 'POST',
  owner: true,
  answer: async (visit, { acts, site }) => {
    const { ctx, organization, viewer } = visit;
    const id = automationOf(visit);
    const given = await readForm(ctx);
    await visit.noteFirst('unmuted', `mute ${id}`);
    await acts.add({ organization, id: formIdOf(given), by: viewer.name, note: '', kind: 'unmute', mute: id });
    leadTo(ctx, `${site.publicUrl.origin}${site.of(organization, 'mutes')}`);
  },
};

/** The reason in a form. @throws {RequestError} if it is absent or too long. */
export function noteOf(given: Form): string {
  const note = reason(given('note'));
  if (note instanceof Fault) throw malformed(`The reason ${note.detail}.`);
  return note;
}

/** A field for a reason. */
export function noteField(label: string, hint?: string): Html {
  return field(label, html`<input name="note" required maxlength="500" autocomplete="off" />`, hint);
}

/** @throws {RequestError} for a window that cannot be. */
function windowOf(given: Form): MuteWindow | undefined {
  const [schedule, duration, timeZone] = [given('schedule'), given('duration'), given('timeZone') || 'UTC'];
  if (schedule === '') return undefined;
  const problem = problemOfWindow({ schedule, timeZone, duration });
  if (problem !== undefined) throw malformed(problem);
  return { schedule, timeZone, duration };
}

function noMute(organization: string): Html {
  return html`<div class="empty">
    <h2>Nothing is muted</h2>
    <p>Who is to be told about ${organization} is told. A mute made here keeps notifications back; verdicts go on.</p>
  </div>`;
}

function list(all: readonly Act[], isOwner: boolean, visit: Visit, { site }: Console, nameOf: NameOfAutomation): Html {
  const end = (mute: Act): Html =>
    html`<form method="post" action="${site.of(visit.organization, `mutes/${mute.id}/end`)}">
      ${formIdField()}<button class="button small" aria-label="End now: ${mute.note}">End now</button>
    </form>`;
  return html`<ul class="list mutes">
    ${all.map((mute) => html`<li>${muteWords(mute, visit, site, nameOf)} ${isOwner && end(mute)}</li>`)}
  </ul>`;
}

function forms(automationId: string | undefined, visit: Visit, { site }: Console, nameOf: NameOfAutomation): Html {
  const { organization, now, zone } = visit;
  const subject =
    automationId === undefined
      ? html`Nobody is told anything about <strong>${organization}</strong> meanwhile. To mute one automation, begin on
          its page.`
      : html`Nobody is told about
          <strong><bdi>${nameOf(automationId) ?? shortenUuid(automationId)}</bdi></strong> meanwhile.`;
  const begin = (title: string): Html =>
    html`<h2>${title}</h2>
      ${formIdField()}
      <input type="hidden" name="automation_id" value="${automationId}" />
      <p class="quiet">${subject} What still holds at the end is told then, once.</p>`;
  const action = site.of(organization, 'mutes');
  return html`<form class="card padded fields" method="post" action="${action}">
      ${begin('Mute until a time')}
      ${field('Until', html`<input type="datetime-local" name="until" required value="${zone.field(now + hourMs)}" />`, `In ${zone.name}.`)}
      ${noteField('Why')}
      <p class="actions"><button class="primary">Mute</button></p>
    </form>
    <form class="card padded fields" method="post" action="${action}">
      ${begin('Mute in a maintenance window')}
      ${field('Begins at', html`<input name="schedule" required placeholder="0 2 * * 0" autocomplete="off" />`, 'A cron expression of five fields.')}
      ${field('Time zone', html`<input name="timeZone" required value="${zone.name}" autocomplete="off" />`)}
      ${field('Lasts', html`<input name="duration" required placeholder="2h" autocomplete="off" />`, 'From 1m to 7d.')}
      ${noteField('Why', 'It repeats until somebody ends it here.')}
      <p class="actions"><button class="primary">Mute in this window</button></p>
    </form>`;
}
