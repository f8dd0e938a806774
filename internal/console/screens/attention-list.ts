import { html, type Html } from '../../kit/html/html.ts';
import type { OverviewData } from '../overview-data.ts';
import { count } from '../parts/format.ts';
import { automationLink } from '../parts/ids.ts';
import { acknowledgedBy } from '../parts/acts.ts';
import { icon } from '../parts/marks.ts';
import { age } from '../parts/time.ts';
import { verdictMark } from '../parts/verdicts.ts';
import type { Site } from '../site.ts';
import type { Visit } from '../visit.ts';

/** Maximum number of automations in the list. */
const listed = 8;

/** Automations that need attention, and why. */
export function attentionList(
  { attentions: { needed, allowed }, names, behind, acknowledged }: OverviewData,
  { organization, now, zone }: Visit,
  site: Site,
): Html {
  const items = needed.slice(0, listed).map(({ automation, kind, reason: told, since }) => {
    const reason = zone.sentence(told);
    const known = acknowledged.get(`${automation} ${kind}`);
    return html`<li data-row>
      ${automationLink(site.automation(organization, automation), automation, names.get(automation), 'row-link')}
      ${verdictMark(kind)} <span class="reason" title="${reason}">${reason}</span> ${age(since, now)}
      ${known && acknowledgedBy(known, now)}
    </li>`;
  });
  const more = needed.length > listed;
  return html`<section class="card" aria-labelledby="attention-title">
    <header>
      <h2 id="attention-title">Needs attention</h2>
      <a
        class="quiet"
        href="${more ? site.of(organization, 'automations', { state: 'attention' }) : site.of(organization, 'alerts')}"
        >${more ? `all ${count(needed.length, 'automation')}` : 'history'}</a
      >
    </header>
    ${
      items.length > 0
        ? html`<ul class="list attention">
            ${items}
          </ul>`
        : html`<p class="fine">
            ${icon(behind === undefined ? 'succeeded' : 'unknown')}${
              behind !== undefined && `Up to ${zone.minute(Date.parse(behind.since))}: `
            }${nothing(allowed)}
          </p>`
    }
  </section>`;
}

/** With allowed failures, another list on the page still shows failing automations. */
function nothing(allowed: number): string {
  if (allowed === 0) return 'Nothing needs attention: no last run has failed, and none is overdue.';
  return `Nothing needs attention. The last run of ${count(allowed, 'automation')} has failed, as their expectations allow.`;
}
