import type { Blindness, Held, Transition } from '../../expectation/transition.ts';
import type { Turns } from '../../store/apart.ts';
import type { Tables } from '../../store/database.ts';
import type { Transaction } from '../../store/sql.ts';
import { AlertSender, type AlertSenderOptions } from './alert-sender.ts';
import { Outbox } from './outbox.ts';
import { ChannelSender, type ChannelSenderOptions } from './channel-sender.ts';

export type NotifierOptions = Omit<AlertSenderOptions, 'timings'> & Omit<ChannelSenderOptions, 'timings'>;

/** Notifies Alertmanagers and channels of what a controller's ticks find. */
export class Notifier {
  readonly name = 'notifications';
  readonly #outbox: Outbox;
  readonly #alerts: AlertSender;
  readonly #channels: ChannelSender;
  #hasNews = false;

  constructor(options: NotifierOptions) {
    this.#outbox = new Outbox(options.consoleUrl, options.actKeys);
    this.#alerts = new AlertSender(options);
    this.#channels = new ChannelSender(options);
  }

  /** Puts notifications about alerts into the outbox, in the transaction of a tick. */
  async recordTransitions(trx: Transaction<Tables>, transitions: readonly Transition[]): Promise<void> {
    await this.#outbox.enqueueAlerts(trx, transitions);
    this.#hasNews = true;
  }

  /** Puts notifications about executions into the outbox, in the transaction of a tick. */
  async recordTick(trx: Transaction<Tables>, watermark: number, held?: Held, turns?: Turns): Promise<void> {
    await this.#outbox.enqueueExecutions(trx, watermark, held, turns);
  }

  /** Called after each tick of this process, and while it cannot reach Postgres. */
  async announce(blindness: Blindness | undefined): Promise<void> {
    this.#alerts.announce(blindness, this.#hasNews);
    this.#hasNews = false;
  }

  async start(): Promise<void> {
    await Promise.all([this.#alerts.start(), this.#channels.start()]);
  }

  async stop(): Promise<void> {
    await Promise.all([this.#alerts.stop(), this.#channels.stop()]);
  }
}
