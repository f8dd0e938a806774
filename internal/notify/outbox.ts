import type { Held, Transition } from '../expectation/transition.ts';
import type { Tables } from '../store/database.ts';
import type { Transaction } from '../store/sql.ts';
import { runsOfAlerts } from './alert-runs.ts';
import { alertEvents } from './cloud-event.ts';
import { enqueueExecutions } from './enqueue-executions.ts';
import { insertMessages } from './insert-messages.ts';
import { ConsoleLinks } from './links.ts';
import { asksFor } from './webhook-choice.ts';

/**
 * Puts the notifications of a tick into the outbox, the table `deliveries`, for each webhook that
 * asks for them. It runs in the transaction of the tick: both are kept, or neither. So a
 * notification is neither lost nor made twice, and keeps its id.
 */
export class Outbox {
  readonly #links: ConsoleLinks;

  /** @param consoleUrl of the links in notifications. */
  constructor(consoleUrl: URL | undefined) {
    this.#links = new ConsoleLinks(consoleUrl);
  }

  /** Notifications about alerts. */
  enqueueAlerts(trx: Transaction<Tables>, transitions: readonly Transition[]): Promise<void> {
    return enqueueAlerts(trx, transitions, this.#links);
  }

  /** Notifications about executions up to the watermark, in ms since the Unix epoch. */
  enqueueExecutions(trx: Transaction<Tables>, watermark: number, held?: Held): Promise<void> {
    return enqueueExecutions(trx, { watermark: new Date(watermark), held }, this.#links);
  }
}

async function enqueueAlerts(
  trx: Transaction<Tables>,
  transitions: readonly Transition[],
  links: ConsoleLinks,
): Promise<void> {
  if (transitions.length === 0) return;
  const organizations = [...new Set(transitions.map(({ alert }) => alert.organization))];
  const webhooks = await trx.selectFrom('webhooks').selectAll().where('organization', 'in', organizations).execute();
  if (webhooks.length === 0) return;
  const alerts = transitions.map(({ alert }) => alert);
  const told = new Set(webhooks.map(({ organization }) => organization));
  const runs = await runsOfAlerts(
    trx,
    alerts.filter(({ organization }) => told.has(organization)),
  );
  const messages = transitions.flatMap((transition) => {
    const { organization, automationId, kind } = transition.alert;
    const subject = { automationId, owner: transition.automation?.owner };
    return alertEvents(transition, runs.get(transition.alert.id), links).flatMap((event) => {
      // A webhook is told about the end of those alerts that it is told about.
      const kinds = [event.type.replace('dev.runledger.', ''), `automation.${kind}`];
      return webhooks
        .filter((webhook) => webhook.organization === organization && asksFor(webhook, kinds, subject))
        .map((webhook) => ({ webhook, automationId, event }));
    });
  });
  await insertMessages(trx, messages);
}
