import { html, type Html } from '../../html/html.ts';
import type { Anomaly } from '../../outcome/stored-batch.ts';
import type { Execution } from '../../record/execution.ts';
import type { StoredEvent } from '../../record/stored-event.ts';
import { copyButton } from '../parts/ids.ts';
import { icon } from '../parts/marks.ts';
import { exactTime } from '../parts/time.ts';
import type { Site } from '../site.ts';
import type { Visit } from '../visit.ts';

const explanations: Readonly<Record<Anomaly, { title: string; text: string }>> = {
  start_missing: {
    title: 'No START',
    text: 'The execution has events, and no START among them. Its automation may not send one, or the START was lost before it reached Runledger.',
  },
  start_repeated: {
    title: 'More than one START',
    text: 'Two runs may share this id, or the caller repeated its request without an Idempotency-Key.',
  },
  start_late: {
    title: 'START is not the first event',
    text: 'Another event was accepted before START. The automation reports from several threads or hosts, or it sends START late.',
  },
  event_after_end: {
    title: 'Events after END',
    text: 'The automation reported more after its END. If another run has the same id, give each run an id of its own.',
  },
};

/** Explains each sign of a broken order. None of them changes the state. */
export function anomalyNotes({ anomalies }: Execution): Html | false {
  if (anomalies.length === 0) return false;
  return html`<section class="card notes" aria-label="Order of events">
    ${anomalies.map((anomaly) => {
      const { title, text } = explanations[anomaly];
      return html`<div class="note">
        ${icon('warning')}
        <div>
          <h2>${title}</h2>
          <p>${text}</p>
        </div>
      </div>`;
    })}
    <p class="quiet">The state does not depend on the order of events.</p>
  </section>`;
}

/** The errors of an execution in full. */
export function errorTexts(events: readonly StoredEvent[], { organization }: Visit, site: Site): Html[] {
  return events
    .filter(({ type_of_event }) => type_of_event === 'ERROR')
    .slice(0, 20)
    .map(({ id, description, error_id, error_description_detail, automation, created_at }) => {
      const group = site.of(organization, 'executions', { error_id, automation_id: automation.toLowerCase() });
      return html`<section class="card failure" id="e-${id}" aria-label="Error">
        <header>
          <h2>
            ${icon('failed')}${error_id === '' ? 'Error' : html`<a href="${group}" title="All executions with this error"><bdi>${error_id}</bdi></a>`}
          </h2>
          ${exactTime(created_at)}
        </header>
        ${description !== '' && html`<p class="text"><bdi>${description}</bdi></p>`}
        ${
          error_description_detail !== '' &&
          html`<div class="command">
            <pre>${error_description_detail}</pre>
            ${copyButton(error_description_detail, 'the text of the error')}
          </div>`
        }
      </section>`;
    });
}
