import type { Blindness } from '../../expectation/transition.ts';
import { AlertTeller, type AlertTellerOptions, type AlertTimings } from './alert-teller.ts';
import { AlertmanagerTests } from './alertmanager-tests.ts';
import { Alertmanager } from './alertmanager.ts';
import { ConsoleLinks } from './links.ts';

export interface AlertSenderOptions extends AlertTellerOptions {
  /** Every replica, not a load balancer: replicas share notifications but not alerts. */
  urls: readonly URL[];
  timings?: Partial<AlertTimings>;
}

/** How long after its last tick a process sends alerts, in ms. Ticks are a few seconds apart. */
const leadMs = 30_000;

const defaultTimings: AlertTimings = { repeatMs: 60_000, checkMs: 500, timeoutMs: 10_000 };

/**
 * Sends the alerts to every Alertmanager: open ones each minute, so that a restarted Alertmanager
 * learns them again, and the end of each once. Only the process whose ticks are announced sends.
 */
export class AlertSender {
  readonly name = 'alertmanager';
  readonly #tellers: readonly AlertTeller[];
  readonly #tests: AlertmanagerTests;
  #announced: { at: number; blindness: Blindness | undefined } | undefined;

  constructor(options: AlertSenderOptions) {
    const timings = { ...defaultTimings, ...options.timings };
    const alertmanagers = options.urls.map((url) => new Alertmanager(url, timings.timeoutMs));
    this.#tellers = alertmanagers.map((one) => new AlertTeller(one, options, timings, () => this.#toTell()));
    const links = new ConsoleLinks(options.consoleUrl);
    this.#tests = new AlertmanagerTests(options.db, alertmanagers, links, options.logger);
  }

  /**
   * Reports that this process made a tick, or cannot reach Postgres.
   * @param blindness why expectations cannot be evaluated; undefined while they can.
   * @param hasNews true if alerts have changed: they are sent immediately.
   */
  announce(blindness: Blindness | undefined, hasNews: boolean): void {
    const isChanged = (blindness === undefined) !== (this.#announced?.blindness === undefined);
    this.#announced = { at: performance.now(), blindness };
    if (hasNews || isChanged) for (const teller of this.#tellers) teller.hurry();
  }

  async start(): Promise<void> {
    for (const teller of this.#tellers) teller.start();
    this.#tests.start();
  }

  async stop(): Promise<void> {
    await Promise.all([this.#tests.stop(), ...this.#tellers.map((teller) => teller.stop())]);
  }

  #toTell(): { blindness: Blindness | undefined } | undefined {
    const announced = this.#announced;
    return announced !== undefined && performance.now() - announced.at < leadMs ? announced : undefined;
  }
}
