import { randomUUID } from 'node:crypto';
import type { AutomationSpec, DeclaredExpectation } from '../../expectation/automation.ts';
import { describeExpectation } from '../../expectation/describe-expectation.ts';
import { readAutomation } from '../../expectation/read-automation.ts';
import { Schedules } from '../../expectation/schedules.ts';
import { html, type Content, type Html } from '../../kit/html/html.ts';
import { answerHtml } from '../../kit/html/answer-html.ts';
import { uuid } from '../../readapi/parameters.ts';
import { declareAutomations, isElsewhere } from '../../readapi/manage-automations.ts';
import { readQuery } from '../../readapi/query.ts';
import { leadTo } from '../../login/page.ts';
import type { Declaration } from '../../record/declaration.ts';
import { field, malformed, readForm } from '../forms.ts';
import { automationOf } from '../path-ids.ts';
import type { Console, Screen, Visit } from '../visit.ts';
import { replay } from './replay.ts';

/** The names of the form fields. */
const names = [
  'name',
  'owner',
  'tags',
  'runbook',
  'schedule',
  'every',
  'timeZone',
  'grace',
  'early',
  'maxDuration',
  'failures',
] as const;
type Texts = Record<(typeof names)[number], string>;

/** The form for a new automation, or for one that has reported already (`id`). */
export const newAutomation: Screen = {
  path: '/automations/new',
  owner: true,
  answer: async (visit, console) => {
    const { id } = readQuery(visit.ctx, { id: uuid });
    if (id !== undefined) refuseElsewhere(await declarationOf(visit, console, id));
    const spec = id === undefined ? undefined : await console.automations.get(visit.organization, id);
    const texts = textsOf(spec as AutomationSpec | undefined);
    show(visit, console, { id: id ?? randomUUID(), texts, isSaved: spec !== undefined });
  },
};

/** Saves the form, or explains its expectations if `act` is `check`. */
export const saveAutomation: Screen = {
  path: '/automations',
  method: 'POST',
  owner: true,
  answer: async (visit, console) => {
    const given = await readForm(visit.ctx);
    const id = uuid(given('id'));
    if (typeof id !== 'string') throw malformed('The form is incomplete: open its page again.');
    refuseElsewhere(await declarationOf(visit, console, id));
    const texts = Object.fromEntries(names.map((name) => [name, given(name)])) as Texts;
    const before = (await console.automations.get(visit.organization, id)) as AutomationSpec | undefined;
    const { spec, problems } = readAutomation(specOf(id, texts, before));
    const faults = [...(texts.name === '' ? ['name: is required'] : []), ...problems];
    if (faults.length > 0 || spec === undefined) return show(visit, console, { id, texts, faults });
    if (given('act') === 'check') {
      return show(visit, console, { id, texts, meaning: await meaningOf(spec, visit, console) });
    }
    await declareAutomations(console, visit.organization, [spec]);
    await visit.note('named', `${spec.displayName} ${id}`);
    lead(visit, console, `automations/${id}/report`);
  },
};

/** Removes the console's declaration of an automation. Its executions stay. */
export const removeAutomation: Screen = {
  path: '/automations/:automation/remove',
  method: 'POST',
  owner: true,
  answer: async (visit, console) => {
    const id = automationOf(visit);
    await console.automations.remove(visit.organization, id);
    await visit.note('named', `${id}, its declaration is removed`);
    lead(visit, console, 'automations');
  },
};

function lead({ ctx, organization }: Visit, { site }: Console, page: string): void {
  leadTo(ctx, `${site.publicUrl.origin}${site.of(organization, page)}`);
}

async function declarationOf({ organization }: Visit, { record }: Console, id: string) {
  return (await record.listDeclarations(organization, [id]))[0];
}

function refuseElsewhere(declaration: Declaration | undefined): void {
  if (!isElsewhere(declaration)) return;
  throw malformed(`It is declared as ${declaration.namespace}/${declaration.name}: change it there.`);
}

interface Shown {
  id: string;
  texts: Texts;
  faults?: readonly string[];
  /** What the expectations mean. */
  meaning?: Html;
  /** True if the console already declares it. */
  isSaved?: boolean;
}

function show(visit: Visit, console: Console, { id, texts, faults = [], meaning, isSaved = false }: Shown): void {
  const { ctx, viewer, organization } = visit;
  const { site } = console;
  const input = (name: keyof Texts, placeholder = ''): Html =>
    html`<input
      name="${name}"
      value="${texts[name]}"
      placeholder="${placeholder}"
      maxlength="2000"
      autocomplete="off"
    />`;
  const body = html`<nav class="crumbs" aria-label="Place">
      <a href="${site.of(organization, 'automations')}">Automations</a>
    </nav>
    <div class="head"><h1>${texts.name === '' ? 'New automation' : texts.name}</h1></div>
    ${
      faults.length > 0 &&
      html`<ul class="faults" role="alert">
        ${faults.map((fault) => html`<li>${fault}</li>`)}
      </ul>`
    }
    ${meaning}
    <form class="card padded fields" method="post" action="${site.of(organization, 'automations')}">
      <input type="hidden" name="id" value="${id}" />
      <p class="quiet">Its id is <code>${id}</code>.</p>
      ${field('Name', html`<input name="name" value="${texts.name}" required maxlength="200" placeholder="Nightly invoices" autocomplete="off" />`)}
      ${field('Owner', input('owner', 'Finance'), 'A team or a person, found by search.')}
      ${field('Tags', input('tags', 'nightly, finance'), 'Words, with commas between them, found by search.')}
      ${field('Runbook', input('runbook', 'https://'), 'What to do when it fails.')}
      <h2>Expectations</h2>
      ${field('Starts at', input('schedule', '30 2 * * 1-5'), 'A cron expression of five fields. Empty: no time is expected.')}
      ${field('Time zone', input('timeZone', 'Europe/Madrid'), 'Of that; UTC unless set.')}
      ${field('Or starts every', input('every', '24h'), 'Maximum time between two starts.')}
      ${field('Grace', input('grace', '10m'), 'How late a start may be; unless set, 10m or half the shortest interval.')}
      ${field('Early', input('early', '5m'), 'How early a start may be; 5m unless set.')}
      ${field('Longest duration', input('maxDuration', '45m'))}
      ${field('Failures in a row', input('failures', '1'), 'How many raise an alert. 0: failures never raise one.')}
      <p class="actions">
        <button class="primary" name="act" value="save">Save</button>
        <button name="act" value="check">What does that mean?</button>
      </p>
    </form>
    ${
      isSaved &&
      html`<form method="post" action="${site.of(organization, `automations/${id}/remove`)}">
        <button class="danger">Remove this declaration</button>
      </form>`
    }`;
  answerHtml(
    ctx,
    console.page({ title: 'Automation', viewer, organization, section: 'automations', body }),
    faults.length > 0 ? 400 : 200,
  );
}

/** Expectations in words, their next times, and the alerts they would have raised. */
async function meaningOf({ automationId, expect }: AutomationSpec, visit: Visit, console: Console): Promise<Html> {
  const phrases = describeExpectation(expect);
  const item = (content: Content): Html => html`<li>${content}</li>`;
  return html`<section class="card padded" aria-labelledby="meaning-title">
    <h2 id="meaning-title">What it means</h2>
    <ul class="expected">
      ${phrases.length === 0 ? item('Nothing is expected.') : phrases.map(item)}
      ${nextTimes(expect, visit.now).map((time) => item(`expected at ${inZone(time, expect?.timeZone)}`))}
    </ul>
    ${await replay(automationId, expect, visit, console)}
  </section>`;
}

/** A time in the zone of a declaration, to the minute. */
function inZone(time: number, timeZone = 'UTC'): string {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' });
  return `${format.format(time)} (${timeZone})`;
}

function nextTimes(expect: DeclaredExpectation | undefined, now: number): number[] {
  if (expect?.schedule === undefined) return [];
  const times = new Schedules().get(expect.schedule, expect.timeZone ?? 'UTC');
  const next: number[] = [];
  for (let at = times.after(now); at !== undefined && next.length < 5; at = times.after(at)) next.push(at);
  return next;
}

function textsOf(spec: AutomationSpec | undefined): Texts {
  const { schedule, every, timeZone, grace, early, maxDuration, failures } = spec?.expect ?? {};
  const inARow = failures !== undefined && 'consecutive' in failures ? String(failures.consecutive) : '';
  return {
    name: spec?.displayName ?? '',
    owner: spec?.owner ?? '',
    tags: spec?.tags.join(', ') ?? '',
    runbook: spec?.links[0]?.url ?? '',
    schedule: schedule ?? '',
    every: every ?? '',
    timeZone: timeZone ?? '',
    grace: grace ?? '',
    early: early ?? '',
    maxDuration: maxDuration ?? '',
    failures: failures !== undefined && 'never' in failures ? '0' : inARow,
  };
}

/**
 * The unchecked `spec` of an `Automation`. What the form has no field for stays as it was `before`.
 */
function specOf(
  automationId: string,
  { name, owner, tags, runbook, failures, ...times }: Texts,
  before: AutomationSpec | undefined,
): object {
  const { lostAfter, failures: known } = before?.expect ?? {};
  const count = Number(failures);
  const kept = known !== undefined && ('rate' in known || 'count' in known) ? known : undefined;
  const told = failures === '' ? kept : count === 0 ? { never: true } : { consecutive: count };
  const expect = {
    ...Object.fromEntries(Object.entries(times).filter(([, text]) => text !== '')),
    ...(told !== undefined && { failures: told }),
    ...(lostAfter !== undefined && { lostAfter }),
  };
  const [first, ...others] = before?.links ?? [];
  const title = first?.url === runbook ? first.title : 'Runbook';
  const words = tags.split(',').map((tag) => tag.trim());
  return {
    automationId,
    displayName: name,
    owner,
    tags: words.filter((tag) => tag !== ''),
    links: [...(runbook === '' ? [] : [{ title, url: runbook }]), ...others],
    ...(Object.keys(expect).length > 0 && { expect }),
    ...(before !== undefined && { alertLabels: before.alertLabels, suspend: before.suspend }),
  };
}
