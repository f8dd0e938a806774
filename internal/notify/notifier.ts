import type { Blindness, Tick } from '../expectation/transition.ts';
import type { Tables } from '../store/database.ts';
import type { Transaction } from '../store/sql.ts';
import { AlertSender, type AlertSenderOptions } from './alert-sender.ts';
import { createOutbox } from './outbox.ts';
import { WebhookSender, type WebhookSenderOptions } from './webhook-sender.ts';

export type NotifierOptions = Omit<AlertSenderOptions, 'timings'> & Omit<WebhookSenderOptions, 'timings'>;

/** Tells Alertmanagers and webhooks about the ticks of a controller. */
export class Notifier {
  readonly name = 'notifications';
  readonly #record: ReturnType<typeof createOutbox>;
  readonly #alerts: AlertSender;
  readonly #webhooks: WebhookSender;
  #hasNews = false;

  constructor(options: NotifierOptions) {
    this.#record = createOutbox(options.consoleUrl);
    this.#alerts = new AlertSender(options);
    this.#webhooks = new WebhookSender(options);
  }

  /** Puts the notifications of a tick into the outbox, in its transaction. */
  async record(trx: Transaction<Tables>, tick: Tick): Promise<void> {
    await this.#record(trx, tick);
    this.#hasNews ||= tick.transitions.length > 0;
  }

  /** After each tick of this process, and while it cannot reach Postgres. */
  async announce(blindness: Blindness | undefined): Promise<void> {
    this.#alerts.announce(blindness, this.#hasNews);
    this.#hasNews = false;
  }

  async start(): Promise<void> {
    await Promise.all([this.#alerts.start(), this.#webhooks.start()]);
  }

  async stop(): Promise<void> {
    await Promise.all([this.#alerts.stop(), this.#webhooks.stop()]);
  }
}
