import type { Held, Transition } from '../../expectation/transition.ts';
import type { MacKey } from '../../ledger/mac.ts';
import { together, type Turns } from '../../store/apart.ts';
import type { Tables } from '../../store/database.ts';
import { sql, type Transaction } from '../../store/sql.ts';
import { runsOfAlerts } from './alert-runs.ts';
import { alertEvents } from './cloud-event.ts';
import { enqueueExecutions } from './enqueue-executions.ts';
import { insertMessages } from './insert-messages.ts';
import { ConsoleLinks } from './links.ts';
import { asksFor, wasTold } from './channel-choice.ts';

/**
 * Puts the notifications of a tick into the outbox, the table `deliveries`, for each channel that
 * asks for them. It runs in the transaction of the tick, so a notification is neither lost nor made
 * twice, and it keeps its id.
 */
export class Outbox {
  readonly #links: ConsoleLinks;
  readonly #actKeys: readonly MacKey[];

  /**
   * @param consoleUrl the base of the links in notifications.
   * @param actKeys the keys with which consoles write mutes; none without a log.
   */
  constructor(consoleUrl: URL | undefined, actKeys: readonly MacKey[] = []) {
    this.#links = new ConsoleLinks(consoleUrl);
    this.#actKeys = actKeys;
  }

  /** Enqueues notifications about alerts. */
  enqueueAlerts(trx: Transaction<Tables>, transitions: readonly Transition[]): Promise<void> {
    return enqueueAlerts(trx, transitions, this.#links);
  }

  /** Enqueues notifications about executions up to the watermark, in ms since the Unix epoch. */
  enqueueExecutions(trx: Transaction<Tables>, watermark: number, held?: Held, turns: Turns = together): Promise<void> {
    return enqueueExecutions(trx, { watermark: new Date(watermark), held, actKeys: this.#actKeys }, this.#links, turns);
  }
}

async function enqueueAlerts(
  trx: Transaction<Tables>,
  transitions: readonly Transition[],
  links: ConsoleLinks,
): Promise<void> {
  if (transitions.length === 0) return;
  const organizations = [...new Set(transitions.map(({ alert }) => alert.organization))];
  const channels = await trx.selectFrom('channels').selectAll().where('organization', 'in', organizations).execute();
  if (channels.length === 0) return;
  const listening = new Set(channels.map(({ organization }) => organization));
  const alerts = transitions.map(({ alert }) => alert).filter(({ organization }) => listening.has(organization));
  const runs = await runsOfAlerts(trx, alerts);
  const told = new Map<string, [namespace: string, name: string][]>();
  const messages = transitions.flatMap((transition) => {
    const { alert, automation, change, toldChannels = [] } = transition;
    const own = channels.filter(({ organization }) => organization === alert.organization);
    const subject = { automationId: alert.automationId, owner: automation?.owner, tags: automation?.tags };
    // A channel that was notified of the start is notified of the end, whatever is declared by now.
    const isTold = own.filter((channel) =>
      change === 'opened' ? asksFor(channel, [`automation.${alert.kind}`], subject) : wasTold(channel, toldChannels),
    );
    if (change === 'opened' && isTold.length > 0)
      told.set(
        alert.id,
        isTold.map(({ namespace, name }) => [namespace, name]),
      );
    return alertEvents(transition, runs.get(alert.id), links).flatMap((event) => {
      const kind = event.type.replace('dev.runledger.', '');
      const asking = isTold.filter((channel) => asksFor(channel, [kind], subject) || change === 'resolved');
      return asking.map((channel) => ({ channel, automationId: alert.automationId, event }));
    });
  });
  await insertMessages(trx, messages);
  await noteTold(trx, told);
}

async function noteTold(
  trx: Transaction<Tables>,
  told: ReadonlyMap<string, readonly (readonly [string, string])[]>,
): Promise<void> {
  if (told.size === 0) return;
  const channels = [...told.values()].map((each) => JSON.stringify(each));
  await sql`
    update alerts set told_channels = told.channels::jsonb
    from unnest(${[...told.keys()]}::uuid[], ${channels}::text[]) as told (id, channels) where alerts.id = told.id
  `.execute(trx);
}
