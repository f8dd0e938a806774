import type { AutomationSpec } from '../../expectation/automation.ts';
import { html } from '../../kit/html/html.ts';
import { answerHtml } from '../../kit/html/answer-html.ts';
import { copyButton } from '../parts/ids.ts';
import { automationOf } from '../path-ids.ts';
import { readNames } from '../names.ts';
import { owns } from '../viewer.ts';
import type { Console, Screen } from '../visit.ts';
import { firstCommand } from './first-command.ts';

/** How an automation reports to this installation: one snippet per tool. */
export const snippets: Screen = {
  path: '/automations/:automation/report',
  answer: async (visit, console) => {
    const id = automationOf(visit);
    const { viewer, organization } = visit;
    const { site } = console;
    const declared = (await console.automations.get(organization, id)) as AutomationSpec | undefined;
    const name = declared?.displayName ?? (await readNames(visit, console))(id);
    const body = html`<nav class="crumbs" aria-label="Place">
        <a href="${site.automation(organization, id)}">${name ?? id}</a>
      </nav>
      <div class="head"><h1>Report its runs</h1></div>
      <section class="card padded">
        <p>
          The id of the automation is <code>${id}</code> ${copyButton(id, 'the id of the automation')}. Put a
          ${owns(viewer, organization) ? html`<a href="${site.of(organization, 'settings/tokens')}">write token</a>` : 'write token'}
          of ${organization} into <code>TOKEN</code>.
        </p>
        ${snippetsOf(id, console).map(
          ([title, text]) =>
            html`<h2>${title}</h2>
              <div class="command">
                <pre>${text}</pre>
                ${copyButton(text, `the snippet for ${title}`)}
              </div>`,
        )}
      </section>`;
    answerHtml(
      visit.ctx,
      console.page({ title: 'Report its runs', viewer, organization, section: 'automations', body }),
    );
  },
};

function snippetsOf(id: string, console: Console): [title: string, text: string][] {
  const ingest = console.ingestUrl?.origin ?? 'https://<host of ingest>';
  const register = `${ingest}/v1/register/`;
  const event = (run: string): string => `{"automation_id": "${id}", "execution_id": "${run}", "event": "START"}`;
  return [
    ['curl', firstCommand(console, { kind: 'write', token: '$TOKEN' }, id)],
    [
      'PowerShell',
      `$event = @{ automation_id = '${id}'; execution_id = (Get-Date -Format o); event = 'START' } | ConvertTo-Json
Invoke-RestMethod -Method Post -Uri '${register}' -Headers @{ token = $env:TOKEN } -ContentType 'application/json' -Body $event`,
    ],
    [
      'Python',
      `import datetime, json, os, urllib.request
event = {"automation_id": "${id}", "execution_id": datetime.datetime.now().isoformat(), "event": "START"}
headers = {"token": os.environ["TOKEN"], "Content-Type": "application/json"}
urllib.request.urlopen(urllib.request.Request("${register}", json.dumps(event).encode(), headers))`,
    ],
    [
      'runledger exec, around any command',
      `RUNLEDGER_URL=${ingest} RUNLEDGER_TOKEN=$TOKEN runledger exec --automation ${id} -- ./backup.sh`,
    ],
    [
      'UiPath, activity HTTP Request',
      `Method: POST
Request URL: ${register}
Headers: token = the write token, Content-Type = application/json
Body: ${event('a text of your own for each run')}`,
    ],
    [
      'Healthchecks, any tool that pings (with a ping token)',
      `${ingest}/ping/$PING_TOKEN/${id}
${ingest}/ping/$PING_TOKEN/${id}/start
${ingest}/ping/$PING_TOKEN/${id}/fail`,
    ],
  ];
}
