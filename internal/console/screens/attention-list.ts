import { html, type Html } from '../../html/html.ts';
import type { OverviewData } from '../overview-data.ts';
import { count } from '../parts/format.ts';
import { icon } from '../parts/marks.ts';
import { age } from '../parts/time.ts';
import { nameOf, verdictMark } from '../parts/verdicts.ts';
import type { Site } from '../site.ts';
import type { Visit } from '../visit.ts';

/** Most automations in the list. */
const listed = 8;

/** Automations whose expectations are not met now, and why. */
export function attentionList(
  { attention, failing }: Pick<OverviewData, 'attention' | 'failing'>,
  { organization, now }: Visit,
  site: Site,
): Html {
  const items = attention.slice(0, listed).map((declaration) => {
    const verdicts = (declaration.verdicts ?? []).filter(({ told }) => told);
    return html`<li data-row>
      <a class="row-link" href="${site.automation(organization, declaration.automation)}"
        ><bdi>${nameOf(declaration)}</bdi></a
      >
      ${verdicts.slice(0, 1).map(({ kind, since, reason }) => html`${verdictMark(kind)} <span class="reason">${reason}</span> ${age(since, now)}`)}
    </li>`;
  });
  return html`<section class="card" aria-labelledby="attention-title">
    <header>
      <h2 id="attention-title">Needs attention</h2>
      <a class="quiet" href="${site.of(organization, 'alerts')}"
        >${attention.length > listed ? `all ${count(attention.length, 'automation')}` : 'history'}</a
      >
    </header>
    ${
      items.length > 0
        ? html`<ul class="list attention">
            ${items}
          </ul>`
        : html`<p class="fine">${icon('succeeded')}${nothing(failing)}</p>`
    }
  </section>`;
}

/** Failures may be allowed: then the list beside this one has automations that fail. */
function nothing(failing: number): string {
  if (failing === 0) return 'Every automation does what is expected of it.';
  return `Everything that is expected holds. ${count(failing, 'automation')} failed in the last run, which is allowed or not judged yet.`;
}
