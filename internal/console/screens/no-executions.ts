import { html, type Html } from '../../html/html.ts';
import { copyButton } from '../parts/ids.ts';
import type { Console, Visit } from '../visit.ts';
import type { ExecutionQuery } from './execution-filters.ts';

/** An empty list says what to do: another filter, or the first event. */
export function noExecutions({ organization }: Visit, { given }: ExecutionQuery, console: Console): Html {
  if (Object.keys(given).length === 0) return firstEvent(console);
  return html`<div class="empty">
    <h2>No execution matches</h2>
    <p>None of the executions of ${organization} has all of these filters.</p>
    <p class="actions">
      <a class="button primary" href="${console.site.of(organization, 'executions')}">Clear the filters</a>
    </p>
  </div>`;
}

/** How to send the first event, with the address of this Runledger. */
export function firstEvent({ ingestUrl }: Console): Html {
  const address = ingestUrl === undefined ? 'https://<host of ingest>' : ingestUrl.origin;
  const command = `curl ${address}/v1/register/ \\
  -H "token: $TOKEN" -H 'Content-Type: application/json' \\
  -d '{"automation_id":"0b0e8a3c-6f5e-4c6b-9f0e-3f8b9a9d1c11","execution_id":"run-1","event":"START"}'`;
  return html`<div class="empty">
    <h2>No execution yet</h2>
    <p>The first event makes the first execution. Send one with a write token of this organization:</p>
    <div class="command">
      <pre>${command}</pre>
      ${copyButton(command, 'the command')}
    </div>
    <p class="quiet">It appears here within a second or two.</p>
  </div>`;
}
