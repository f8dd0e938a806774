import { html, type Html } from '../../kit/html/html.ts';
import { strip } from '../charts/strip.ts';
import type { OverviewData } from '../overview-data.ts';
import { count, formatNumber } from '../parts/format.ts';
import { automationLink } from '../parts/ids.ts';
import { icon } from '../parts/marks.ts';
import { age } from '../parts/time.ts';
import type { Site } from '../site.ts';
import type { Visit } from '../visit.ts';

/** Automations whose newest ended run failed. */
export function failingList(
  { failingShown: failing, failing: all, names }: OverviewData,
  { organization, now }: Visit,
  site: Site,
): Html {
  const more = site.of(organization, 'automations', { state: 'failing' });
  const items = failing.map(
    ({ automation, failuresInARow, failingSince, runs }) =>
      html`<li data-row>
        ${automationLink(site.automation(organization, automation), automation, names.get(automation), 'row-link')}
        ${strip(runs.map(({ state }) => state))}
        <span class="failed">${count(failuresInARow, 'failure')}</span>
        <span class="quiet">since ${failingSince !== undefined && age(failingSince, now)}</span>
      </li>`,
  );
  return html`<section class="card" aria-labelledby="failing-title">
    <header>
      <h2 id="failing-title">Failing now</h2>
      ${all > failing.length && html`<a class="quiet" href="${more}">all ${formatNumber(all)}</a>`}
    </header>
    ${
      items.length > 0
        ? html`<ul class="list failing">
            ${items}
          </ul>`
        : html`<p class="fine">${icon('succeeded')}No automation failed in its last run.</p>`
    }
  </section>`;
}

/** The newest errors, grouped by cause. */
export function newestErrors(
  { errors, names }: OverviewData,
  { organization, now }: Visit,
  site: Site,
  window: string,
): Html {
  const items = errors.map(({ automation, error_id, count: times, last_seen_at }) => {
    const href = site.of(organization, 'executions', { error_id, automation_id: automation, state: 'failed' });
    return html`<li data-row>
      <a class="row-link" href="${href}" title="${error_id}"
        ><bdi>${error_id === '' ? 'without an error_id' : error_id}</bdi></a
      >
      <span class="number">${formatNumber(times)} ×</span>
      ${automationLink(site.automation(organization, automation), automation, names.get(automation))}
      ${age(last_seen_at, now)}
    </li>`;
  });
  return html`<section class="card" aria-labelledby="errors-title">
    <header>
      <h2 id="errors-title">Newest errors</h2>
      <a class="quiet" href="${site.of(organization, 'errors', { window })}">all</a>
    </header>
    ${
      items.length > 0
        ? html`<ul class="list newest-errors">
            ${items}
          </ul>`
        : html`<p class="fine">${icon('succeeded')}No error in this time.</p>`
    }
  </section>`;
}
