import { describeExpectation } from '../../expectation/describe-expectation.ts';
import { html, type Html } from '../../kit/html/html.ts';
import type { Declaration } from '../../record/declaration.ts';
import { alertTable, deliveryTable } from '../parts/history.ts';
import { age, exactTime } from '../parts/time.ts';
import { healthMark, verdictMark } from '../parts/verdicts.ts';
import { knownUpTo } from '../behind.ts';
import type { Console, Visit } from '../visit.ts';
import { readBehind } from './blindness.ts';
import { calendar, nextStart } from './calendar.ts';

/** Maximum number of alerts in the calendar, and rows of the lists. */
const mostAlerts = 200;
const listed = 8;

/** An automation's expectations, whether they are met, and their history; empty without any. */
export async function expectations(
  id: string,
  declaration: Declaration | undefined,
  visit: Visit,
  console: Console,
): Promise<Html> {
  const { organization } = visit;
  const { record, site } = console;
  const [{ items: alerts }, deliveries, behind] = await Promise.all([
    record.listAlerts(organization, { automationId: id }, { limit: mostAlerts }),
    record.listDeliveries(organization, listed, id),
    readBehind(console, organization),
  ]);
  return html`${declaration && verdictCard(declaration, knownUpTo(behind, visit.zone), visit)}
  ${declaration !== undefined && declaration.expect !== null && (await calendar(declaration, alerts, visit, console))}
  ${
    alerts.length > 0 &&
    html`<section class="card" aria-labelledby="alerts-title">
      <header>
        <h2 id="alerts-title">Newest alerts</h2>
        <a class="quiet" href="${site.of(organization, 'alerts')}">all of the organization</a>
      </header>
      ${alertTable(alerts.slice(0, listed), visit, site)}
    </section>`
  }
  ${
    deliveries.length > 0 &&
    html`<section class="card" aria-labelledby="deliveries-title">
      <header><h2 id="deliveries-title">Newest deliveries to channels</h2></header>
      ${deliveryTable(deliveries, visit, site)}
    </section>`
  }`;
}

function verdictCard(declaration: Declaration, upTo: string | undefined, { now, zone }: Visit): Html {
  const { expect, verdicts } = declaration;
  const next = declaration.suspend ? undefined : nextStart(expect, now);
  const nextIso = next === undefined ? undefined : new Date(next).toISOString();
  return html`<section class="card verdicts" aria-labelledby="expected-title">
    <header>
      <h2 id="expected-title">Expectations</h2>
      <span>${healthMark(declaration, upTo)}</span>
    </header>
    <ul class="expected">
      ${describeExpectation(expect).map((phrase) => html`<li>${phrase}</li>`)}
      ${nextIso !== undefined && html`<li>next run expected ${age(nextIso, now)}: ${exactTime(nextIso)}</li>`}
    </ul>
    ${declaration.note !== null && html`<p class="fine">${declaration.note}</p>`}
    ${
      verdicts !== null &&
      verdicts.length > 0 &&
      html`<ul class="list verdicts">
        ${verdicts.map(({ kind, reason, since }) => html`<li>${verdictMark(kind)} <span>${zone.sentence(reason)}</span> <span class="quiet">since ${age(since, now)}</span></li>`)}
      </ul>`
    }
  </section>`;
}
