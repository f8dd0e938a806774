import { consoleNamespace } from '../../expectation/read-automation.ts';
import { alertmanagerNamespace } from '../../expectation/read-channel.ts';
import { html, type Html } from '../../kit/html/html.ts';
import type { Alert, Notice } from '../../record/alert.ts';
import type { Delivery } from '../../record/delivery.ts';
import type { NameOfAutomation } from '../names.ts';
import type { Site } from '../site.ts';
import type { Visit } from '../visit.ts';
import { count, shortenUuid } from './format.ts';
import { icon } from './marks.ts';
import { acknowledgedBy } from './acts.ts';
import { age } from './time.ts';
import { verdictMark } from './verdicts.ts';

type Place = Pick<Visit, 'organization' | 'now' | 'zone'>;

/** Alerts, and who was notified of each. Without `nameOf`, the automation is not shown. */
export function alertTable(
  alerts: readonly Alert[],
  { organization, now, zone }: Place,
  site: Site,
  nameOf?: NameOfAutomation,
): Html {
  return html`<table class="rows alerts">
    <thead>
      <tr>
        <th scope="col">Alert</th>
        ${nameOf && html`<th scope="col">Automation</th>`}
        <th scope="col">Why</th>
        <th scope="col">Opened</th>
        <th scope="col">Resolved</th>
        <th scope="col">On-call told</th>
      </tr>
    </thead>
    <tbody>
      ${alerts.map(
        ({ id, kind, automation, reason, opened_at, resolved_at, resolved_reason, acknowledged, notices }) =>
          html`<tr data-row>
            <td>${verdictMark(kind)}</td>
            ${
              nameOf &&
              html`<td>
                <a class="row-link" href="${site.automation(organization, automation)}" title="${automation}"
                  ><bdi>${nameOf(automation) ?? shortenUuid(automation)}</bdi></a
                >
              </td>`
            }
            <td>
              ${zone.sentence(reason)}${resolved_reason !== null && html` <span class="quiet">${zone.sentence(resolved_reason)}</span>`}
              ${acknowledged && acknowledgedBy(acknowledged, now)}
            </td>
            <td data-label="opened">${age(opened_at, now)}</td>
            <td ${resolved_at !== null && html`data-label="resolved"`}>
              ${resolved_at === null ? html`<a href="${site.of(organization, `alerts/${id}`)}"><strong>open</strong></a>` : age(resolved_at, now)}
            </td>
            <td>
              ${notices.length === 0 ? html`<span class="quiet nobody">nobody</span>` : notices.map((notice) => told(notice, now))}
            </td>
          </tr>`,
      )}
    </tbody>
  </table>`;
}

function told({ receiver, told_at, resolved_told_at, error }: Notice, now: number): Html {
  const result = told_at === null ? 'not told' : age(told_at, now);
  return html`<span class="told">
    <bdi>${receiver}</bdi>
    <span class="quiet">${result}${resolved_told_at !== null && html`, its end ${age(resolved_told_at, now)}`}</span>
    ${error !== null && html`<span class="failed">${icon('failed')}<bdi>${error}</bdi></span>`}
  </span>`;
}

/** A channel as people know it: one of the console has no namespace. */
export function shownChannel(channel: string): string {
  if (channel.startsWith(`${alertmanagerNamespace}/`)) return 'Alertmanager';
  return channel.startsWith(`${consoleNamespace}/`) ? channel.slice(consoleNamespace.length + 1) : channel;
}

/** The newest deliveries, if there are any. It asks again while a test waits for its answer. */
export function deliveryCard(
  title: string,
  deliveries: readonly Delivery[],
  place: Place & Pick<Visit, 'ctx'>,
  site: Site,
  nameOf: NameOfAutomation,
): Html | false {
  if (deliveries.length === 0) return false;
  const isAwaited = ({ kind, attempts, delivered_at: delivered, given_up_at: end }: Delivery): boolean =>
    kind === 'test' && attempts === 0 && (delivered ?? end) === null;
  const again = html`hx-get="${site.base}${place.ctx.path}" hx-select="#deliveries" hx-trigger="load delay:1s"
  hx-swap="outerHTML"`;
  return html`<section
    class="card"
    id="deliveries"
    aria-labelledby="deliveries-title"
    ${deliveries.some(isAwaited) && again}
  >
    <header><h2 id="deliveries-title">${title}</h2></header>
    ${deliveryTable(deliveries, place, site, nameOf)}
  </section>`;
}

/** Deliveries to channels, and whether they arrived. */
export function deliveryTable(
  deliveries: readonly Delivery[],
  { organization, now }: Place,
  site: Site,
  nameOf?: NameOfAutomation,
): Html {
  return html`<table class="rows deliveries">
    <thead>
      <tr>
        <th scope="col">Result</th>
        <th scope="col">Channel</th>
        <th scope="col">Notification</th>
        ${nameOf && html`<th scope="col">Automation</th>`}
        <th scope="col">Made</th>
        <th scope="col" class="number">Attempts</th>
      </tr>
    </thead>
    <tbody>
      ${deliveries.map(
        (delivery) =>
          html`<tr data-row>
            <td>${result(delivery, now)}</td>
            <td><bdi>${shownChannel(delivery.channel)}</bdi></td>
            <td class="mono">${delivery.kind.replace('automation.', '')}</td>
            ${nameOf && html`<td>${delivery.kind !== 'test' && html`<a class="row-link" href="${site.automation(organization, delivery.automation)}"><bdi>${nameOf(delivery.automation) ?? shortenUuid(delivery.automation)}</bdi></a>`}</td>`}
            <td>${age(delivery.created_at, now)}</td>
            <td class="number">${count(delivery.attempts, 'attempt')}</td>
          </tr>`,
      )}
    </tbody>
  </table>`;
}

function result({ delivered_at, given_up_at, error, attempts }: Delivery, now: number): Html {
  const why = error !== null && html` <span class="quiet"><bdi>${error}</bdi></span>`;
  if (delivered_at !== null) {
    return html`<span class="state succeeded">${icon('succeeded')}<span>Delivered</span></span>
      ${age(delivered_at, now)}${why}`;
  }
  if (given_up_at !== null) {
    return html`<span class="state failed">${icon('failed')}<span>Given up</span></span
      >${why}`;
  }
  const word = attempts > 0 && error !== null ? 'Retrying' : 'Waiting';
  return html`<span class="state running">${icon('running')}<span>${word}</span></span
    >${why}`;
}
