import { oneOf, recordedTime, uuid } from '../../readapi/parameters.ts';
import { readQuery, type Values } from '../../readapi/query.ts';
import { answerHtml } from '../../kit/html/answer-html.ts';
import { html, type Html } from '../../kit/html/html.ts';
import type { Alert, AlertPosition } from '../../record/alert.ts';
import type { Page } from '../../record/page.ts';
import { readNames } from '../names.ts';
import { alertTable, deliveryCard } from '../parts/history.ts';
import type { Console, Screen, Visit } from '../visit.ts';
import { givenOf } from './execution-filters.ts';
import { channelCard } from './channel-card.ts';

/** Maximum number of alerts and of deliveries per page. */
const listed = 50;

/** `at` and `id`: where the previous page ended. `test`: the result of sending a test. */
const table = {
  open: oneOf(['true', 'false']),
  at: recordedTime,
  id: uuid,
  test: oneOf(['sent', 'waiting', 'gone']),
} as const;
type Query = Values<typeof table>;

/** The history of alerts, who was notified, and the channels with their deliveries. */
export const alerts: Screen = {
  path: '/alerts',
  answer: async (visit, console) => {
    const query = readQuery({ querystring: givenOf(visit.ctx).toString() }, table);
    const { viewer, organization } = visit;
    const { open, at, id } = query;
    const after = at === undefined || id === undefined ? undefined : { openedAt: at, id };
    const isOpen = open === undefined ? undefined : open === 'true';
    const [page, deliveries, channels, nameOfId] = await Promise.all([
      console.record.listAlerts(organization, { open: isOpen }, { limit: listed, after }),
      console.record.listDeliveries(organization, listed),
      console.record.listChannels(organization),
      readNames(visit, console),
    ]);
    const { site } = console;
    const body = html`<div class="head">
        <h1>Alerts</h1>
        <a class="button small" href="${site.of(organization, 'mutes')}">Mutes</a>
        ${choiceOf(query, visit, console)}
      </div>
      <div class="card">${page.items.length > 0 ? alertTable(page.items, visit, site, nameOfId) : nothingShown}</div>
      ${olderLink(page, query, visit, console)} ${channels.length > 0 && channelCard(channels, query.test, visit, site)}
      ${deliveryCard('Newest deliveries to channels', deliveries, visit, site, nameOfId)}`;
    answerHtml(visit.ctx, console.page({ title: 'Alerts', viewer, organization, section: 'alerts', body }));
  },
};

const choices = [
  [undefined, 'All'],
  ['true', 'Open'],
  ['false', 'Resolved'],
] as const;

function choiceOf(query: Query, { organization }: Visit, { site }: Console): Html {
  return html`<nav class="segments right" aria-label="State">
    ${choices.map(
      ([open, words]) =>
        html`<a href="${site.of(organization, 'alerts', { open })}" ${query.open === open && html`aria-current="true"`}
          >${words}</a
        >`,
    )}
  </nav>`;
}

const nothingShown = html`<div class="empty">
  <h2>No alert</h2>
  <p>What an owner, a resource or a file expects of an automation, and does not happen, appears here.</p>
</div>`;

function olderLink(
  { next }: Page<Alert, AlertPosition>,
  { open }: Query,
  { organization }: Visit,
  { site }: Console,
): Html | false {
  if (next === undefined) return false;
  const href = site.of(organization, 'alerts', { open, at: next.openedAt, id: next.id });
  return html`<div id="more"><a class="button" href="${href}">Older alerts</a></div>`;
}
