import { hash } from 'node:crypto';
import { html, type Html } from '../../kit/html/html.ts';
import type { Execution } from '../../record/execution.ts';
import { count } from '../parts/format.ts';
import { automationLink, executionLink } from '../parts/ids.ts';
import { icon, stateMark } from '../parts/marks.ts';
import { age, duration } from '../parts/time.ts';
import type { NameOfAutomation } from '../names.ts';
import type { Site } from '../site.ts';
import type { Visit } from '../visit.ts';

/** The DOM id of an execution's row. */
export function rowId({ automation, execution_id }: Pick<Execution, 'automation' | 'execution_id'>): string {
  return `x-${hash('sha256', `${automation} ${execution_id}`, 'base64url').slice(0, 16)}`;
}

/** The table head of a list of executions. */
export const rowHeadings = html`<thead>
  <tr>
    <th scope="col">State</th>
    <th scope="col">Execution</th>
    <th scope="col">Automation</th>
    <th scope="col">Started</th>
    <th scope="col" class="number">Duration</th>
    <th scope="col">Events</th>
  </tr>
</thead>`;

/** A row in a list of executions. */
export function executionRow(
  execution: Execution,
  { organization, now }: Pick<Visit, 'organization' | 'now'>,
  site: Site,
  nameOf?: NameOfAutomation,
): Html {
  const { automation, execution_id, state, first_event_at, duration_ms } = execution;
  const href = site.execution(organization, automation, execution_id);
  return html`<tr id="${rowId(execution)}" data-row>
    <td>${stateMark(state)}</td>
    <td>${executionLink(href, execution_id)} ${anomalyFlag(execution)}</td>
    <td>${automationLink(site.automation(organization, automation), automation, nameOf?.(automation))}</td>
    <td>${age(first_event_at, now)}</td>
    <td class="number">${duration(duration_ms, first_event_at, now, state === 'running' || state === 'lost')}</td>
    <td>${eventCounts(execution)}</td>
  </tr>`;
}

function anomalyFlag({ anomalies }: Execution): Html | false {
  if (anomalies.length === 0) return false;
  return html`<span class="flag" title="Broken order of events: ${anomalies.join(', ')}">out of order</span>`;
}

/** The number of events of an execution. */
export function sumOf(counts: Execution['counts']): number {
  return Object.values(counts).reduce((sum, part) => sum + part, 0);
}

/** The number of events, and how many are warnings and errors. */
export function eventCounts({ counts }: Pick<Execution, 'counts'>): Html {
  const all = sumOf(counts);
  const { WARNING: warnings, ERROR: errors } = counts;
  return html`<span class="counts"
    ><span>${count(all, 'event')}</span>
    ${errors > 0 && html`<span class="failed">${icon('failed')}${count(errors, 'error')}</span>`}
    ${warnings > 0 && html`<span class="warning">${icon('warning')}${count(warnings, 'warning')}</span>`}</span
  >`;
}
