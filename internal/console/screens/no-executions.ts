import { html, type Html } from '../../kit/html/html.ts';
import { copyButton } from '../parts/ids.ts';
import { owns } from '../viewer.ts';
import type { Console, Visit } from '../visit.ts';
import type { ExecutionQuery } from './execution-filters.ts';
import { firstCommand } from './first-command.ts';

/** Tells the reader of an empty list what to do: clear the filters, or send the first event. */
export function noExecutions(visit: Visit, { given }: ExecutionQuery, console: Console): Html {
  const { organization } = visit;
  if (Object.keys(given).length === 0) return firstEvent(visit, console);
  return html`<div class="empty">
    <h2>No execution matches</h2>
    <p>No execution of ${organization} matches all of these filters.</p>
    <p class="actions">
      <a class="button primary" href="${console.site.of(organization, 'executions')}">Clear the filters</a>
    </p>
  </div>`;
}

/**
 * The three steps to the first event, with the addresses of this installation. `automation`: one
 * that is declared already.
 */
export function firstEvent(visit: Visit, console: Console, automation?: string): Html {
  const { organization, viewer } = visit;
  const { localFiles, site } = console;
  const own = localFiles?.organization === organization ? localFiles : undefined;
  const token = own === undefined ? '$TOKEN' : `$(cat ${own.token})`;
  const command = firstCommand(console, { kind: 'write', token }, automation);
  return html`<div class="empty">
    <h2>No execution yet</h2>
    <ol class="steps">
      <li>
        <strong>Get a write token</strong>
        ${
          own === undefined
            ? html`<p>
                ${owns(viewer, organization) ? html`<a href="${site.of(organization, 'settings/tokens')}">Make one</a> for ${organization}.` : `An owner of ${organization} makes it under Settings.`}
                Put it into <code>TOKEN</code>.
              </p>`
            : html`<p>That of ${organization} is in <code>${own.token}</code>.</p>`
        }
      </li>
      <li>
        <strong>Send the first event</strong>
        <p>
          It creates the first execution of ${automation === undefined ? 'a new' : 'your'} automation. The UUID
          identifies the automation: keep it.
        </p>
        <div class="command">
          <pre>${command}</pre>
          ${copyButton(command, 'the command')}
        </div>
      </li>
      <li>
        <strong>See it here</strong>
        <p>It appears on Overview, Executions and Tail within a second or two.</p>
      </li>
    </ol>
  </div>`;
}
