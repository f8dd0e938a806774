import { html, type Html } from '../../kit/html/html.ts';
import type { Anomaly } from '../../event/outcome/stored-batch.ts';
import type { Execution } from '../../record/execution.ts';
import { icon } from '../parts/marks.ts';

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

/** Explains each anomaly in the order of events. None of them changes the state. */
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
