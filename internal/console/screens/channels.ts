import { channelKinds, channelTypes, problemOfUrl, readChannel } from '../../expectation/read-channel.ts';
import { consoleNamespace } from '../../expectation/read-automation.ts';
import { html, type Content, type Html } from '../../kit/html/html.ts';
import { leadTo } from '../../login/page.ts';
import type { ChannelState } from '../../record/delivery.ts';
import { field, malformed, readForm, type Form } from '../forms.ts';
import { deliveryCard } from '../parts/history.ts';
import { readNames } from '../names.ts';
import type { Console, Screen, Visit } from '../visit.ts';
import { channelList, typeNames } from './channel-card.ts';
import { answerSettings, loginAgainNotice } from './settings.ts';

const path = 'settings/channels';

/** What people can be told by; a program's channel is a resource, since its keys are too. */
const types = channelTypes.filter((type) => type !== 'webhook');

/** Newest deliveries on the page. */
const listed = 20;

/** The channels of the organization, the form for a new one, and their last deliveries. */
export const channels: Screen = {
  path: '/settings/channels',
  owner: true,
  answer: async (visit, console) => {
    await show(visit, console, { texts: () => '' });
  },
};

/** Makes a channel. The address of a chat leaves this process encrypted for the controller. */
export const makeChannel: Screen = {
  path: '/settings/channels',
  method: 'POST',
  owner: true,
  recent: true,
  answer: async (visit, console) => {
    const given = await readForm(visit.ctx);
    const name = given('name');
    const { spec, problems } = readChannel(specOf(given));
    const isMail = given('type') === 'email';
    const [url, token] = [given('url'), given('token')];
    const problemOfAddress = isMail ? undefined : problemOfUrl(url);
    const faults = [
      ...(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name) ? [] : ['name: lower-case letters, digits and dashes']),
      ...problems,
      ...(problemOfAddress === undefined ? [] : [`address: ${problemOfAddress}`]),
    ];
    if (faults.length > 0 || spec === undefined) return show(visit, console, { texts: given, faults });
    const { organization } = visit;
    const sealed = isMail ? null : await console.channels.seal({ organization, name, url, token });
    if (sealed === undefined) throw malformed('No controller that keeps addresses is running.');
    const isMade = await console.channels.make(organization, { name, spec: { ...spec, secretRef: '' }, sealed });
    if (!isMade) return show(visit, console, { texts: given, faults: ['name: it is taken, or there are 50 channels'] });
    await visit.note('issued', `${spec.type} channel ${name}`);
    lead(visit, console);
  },
};

/** Removes a channel that was made in the console. */
export const removeChannel: Screen = {
  path: '/settings/channels/:name/remove',
  method: 'POST',
  owner: true,
  recent: true,
  answer: async (visit, console) => {
    const [, name = ''] = visit.ctx['captures'] as string[];
    if (await console.channels.remove(visit.organization, name)) await visit.note('revoked', `channel ${name}`);
    lead(visit, console);
  },
};

function lead({ ctx, organization }: Visit, { site }: Console): void {
  leadTo(ctx, `${site.publicUrl.origin}${site.of(organization, path)}`);
}

/** The unchecked `spec` of a `Channel`. */
function specOf(given: Form): object {
  const type = given('type');
  const list = (name: string): string[] =>
    given(name)
      .split(/[\s,;]+/)
      .filter((text) => text !== '');
  const names = (name: string): string[] =>
    given(name)
      .split(',')
      .map((text) => text.trim())
      .filter((text) => text !== '');
  const [automations, owners, tags, kinds] = [list('automations'), names('owners'), names('tags'), list('kinds')];
  const quiet = { from: given('from'), to: given('to'), timeZone: given('zone') };
  return {
    type,
    ...(type === 'email' ? { to: list('mail') } : { secretRef: { name: 'console' } }),
    kinds,
    filter: {
      ...(automations.length > 0 && { automations }),
      ...(owners.length > 0 && { owners }),
      ...(tags.length > 0 && { tags }),
    },
    ...((quiet.from !== '' || quiet.to !== '') && { quietHours: { ...quiet, timeZone: quiet.timeZone || 'UTC' } }),
  };
}

interface Shown {
  texts: Form;
  faults?: readonly string[];
}

async function show(visit: Visit, console: Console, { texts, faults = [] }: Shown): Promise<void> {
  const { organization } = visit;
  const [known, made, deliveries, nameOfId] = await Promise.all([
    console.record.listChannels(organization),
    console.channels.list(organization),
    console.record.listDeliveries(organization, listed),
    readNames(visit, console),
  ]);
  const isOfConsole = ({ namespace }: ChannelState) => namespace === consoleNamespace;
  const all = known.filter((channel) => !isOfConsole(channel) || made.some(({ name }) => name === channel.name));
  const waiting = made.filter(({ name }) => !known.some((channel) => isOfConsole(channel) && channel.name === name));
  const place = console.site.of(organization, path);
  const again = html`hx-get="${place}" hx-select="#channels" hx-trigger="load delay:1s" hx-swap="outerHTML"`;
  const body = html`${
      faults.length > 0 &&
      html`<ul class="faults" role="alert">
        ${faults.map((fault) => html`<li>${fault}</li>`)}
      </ul>`
    }
    ${visit.proof === undefined && loginAgainNotice(visit, console)}
    <section class="card" id="channels" aria-label="Channels" ${waiting.length > 0 && again}>
      ${all.length + waiting.length === 0 ? noChannel(visit) : channelList(all, undefined, visit, console.site, (channel) => removeButton(channel, visit, console))}
      ${waiting.map(
        ({ name, type }) =>
          html`<p class="fine" role="status">
            <span>${typeNames[type]} <bdi>${name}</bdi>: being set up …</span>
          </p>`,
      )}
    </section>
    ${visit.proof !== undefined && newForm(visit, console, texts, faults.length > 0)}
    ${deliveryCard('Last deliveries, and the receivers’ answers', deliveries, visit, console.site, nameOfId)}`;
  answerSettings(visit, console, { title: 'Channels', path, body, status: faults.length > 0 ? 400 : 200 });
}

function removeButton(
  { namespace, name }: ChannelState,
  { organization, proof }: Visit,
  { site }: Console,
): Html | false {
  if (namespace !== consoleNamespace || proof === undefined) return false;
  return html`<form method="post" action="${site.of(organization, `${path}/${encodeURIComponent(name)}/remove`)}">
    <button class="danger" aria-label="Remove ${name}">Remove</button>
  </form>`;
}

function noChannel({ organization }: Visit): Html {
  return html`<div class="empty">
    <h2>Nobody is told yet</h2>
    <p>Make a channel, and ${organization} hears of each alert and of its end.</p>
  </div>`;
}

function newForm({ organization }: Visit, { site }: Console, texts: Form, isOpen: boolean): Html {
  const input = (name: string, placeholder = '', type = 'text'): Html =>
    html`<input
      name="${name}"
      type="${type}"
      value="${type === 'password' ? '' : texts(name)}"
      placeholder="${placeholder}"
      maxlength="4000"
      autocomplete="off"
    />`;
  const option = (value: string, words: Content): Html =>
    html`<option value="${value}" ${texts('type') === value && html`selected`}>${words}</option>`;
  return html`<form class="card padded fields" method="post" action="${site.of(organization, path)}">
    <h2>New channel</h2>
    ${field('Name', html`<input name="name" value="${texts('name')}" required maxlength="63" placeholder="billing-chat" autocomplete="off" />`)}
    ${field(
      'Type',
      html`<select name="type">
        ${types.map((type) => option(type, typeNames[type]))}
      </select>`,
    )}
    <div class="of-mail">${field('Mail addresses', input('mail', 'ana@example.com, ben@example.com'))}</div>
    <div class="of-chat">
      ${field('Address', input('url', 'https://', 'password'), 'That of the incoming webhook, or of the ntfy topic. It is encrypted here and never shown again.')}
    </div>
    <div class="of-ntfy">${field('Token', input('token', '', 'password'), 'For a protected topic.')}</div>
    <details ${isOpen && html`open`}>
      <summary>It hears every alert, at any hour. Choose less …</summary>
      <div class="fields">
        ${field('Owners', input('owners', 'Finance, Warehouse'), 'Of the automations. Empty: all.')}
        ${field('Tags', input('tags', 'nightly, finance'), 'Of which the automations have one or more. Empty: all.')}
        ${field('Automations', input('automations'), 'Their ids. Empty: all.')}
        ${field('Kinds', input('kinds', 'automation.missing, automation.resolved'), html`Of ${channelKinds.join(', ')}. Empty: every kind about automations.`)}
        ${field('Quiet from', input('from', '22:00'), 'Messages wait until the end of these hours.')}
        ${field('Quiet to', input('to', '07:00'))}
        ${field('Time zone', input('zone', 'Europe/Madrid'), 'Of these; UTC unless set.')}
      </div>
    </details>
    <button class="primary">Make a channel</button>
  </form>`;
}
