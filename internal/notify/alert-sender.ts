import { Repeating } from '../async/repeating.ts';
import type { Blindness } from '../expectation/transition.ts';
import type { Database } from '../store/database.ts';
import { describeError, type Logger } from '../telemetry/logger.ts';
import type { NotifyMetrics } from '../telemetry/notify-metrics.ts';
import { Alertmanager } from './alertmanager.ts';
import { alertmanagerAlerts, blindAlert } from './alertmanager-alert.ts';
import { ConsoleLinks } from './links.ts';
import { NoticeBook } from './notice-book.ts';
import { alertsToTell, type ToldAlert } from './told-alerts.ts';

export interface AlertSenderOptions {
  db: Database;
  /** Every replica, not a load balancer: replicas share notifications, but not alerts. */
  urls: readonly URL[];
  /** Of the links in alerts. */
  consoleUrl: URL | undefined;
  metrics: NotifyMetrics;
  logger: Logger;
  timings?: Partial<AlertTimings>;
}

export interface AlertTimings {
  /** How often each alert is told again, in ms. */
  repeatMs: number;
  /** How soon news are told, in ms. */
  checkMs: number;
  /** Longest duration of a request, in ms. */
  timeoutMs: number;
}

/** How long after its last tick a process tells, in ms. Ticks are a few seconds apart. */
const leadMs = 30_000;

const defaultTimings: AlertTimings = { repeatMs: 60_000, checkMs: 500, timeoutMs: 10_000 };

/**
 * Tells every Alertmanager about the alerts: open ones each minute, so that one that restarts knows
 * them again, and resolved ones for five minutes. While Postgres is unavailable it repeats the last
 * alerts, since an alert that nobody repeats would look resolved. Only the process whose ticks are
 * announced tells; the others stay silent.
 */
export class AlertSender {
  readonly name = 'alertmanager';
  readonly #options: AlertSenderOptions;
  readonly #timings: AlertTimings;
  readonly #links: ConsoleLinks;
  readonly #alertmanagers: readonly Alertmanager[];
  readonly #book: NoticeBook;
  readonly #rounds: Repeating;
  #last: ToldAlert[] = [];
  #dueAt = 0;
  #announced: { at: number; blindness: Blindness | undefined } | undefined;

  constructor(options: AlertSenderOptions) {
    this.#options = options;
    this.#timings = { ...defaultTimings, ...options.timings };
    this.#links = new ConsoleLinks(options.consoleUrl);
    this.#alertmanagers = options.urls.map((url) => new Alertmanager(url, this.#timings.timeoutMs));
    this.#book = new NoticeBook(options.db);
    this.#rounds = new Repeating(() => this.#check());
  }

  /**
   * Notes that this process made a tick, or cannot reach Postgres.
   * @param blindness why expectations cannot be evaluated; undefined while they can.
   * @param hasNews true if alerts have changed: they are told at once.
   */
  announce(blindness: Blindness | undefined, hasNews: boolean): void {
    const isChanged = (blindness === undefined) !== (this.#announced?.blindness === undefined);
    if (hasNews || isChanged) this.#dueAt = 0;
    this.#announced = { at: performance.now(), blindness };
  }

  async start(): Promise<void> {
    if (this.#alertmanagers.length > 0) this.#rounds.start();
  }

  async stop(): Promise<void> {
    await this.#rounds.stop();
  }

  async #check(): Promise<number> {
    const now = performance.now();
    const leads = this.#announced !== undefined && now - this.#announced.at < leadMs;
    if (leads && now >= this.#dueAt) {
      this.#dueAt = now + this.#timings.repeatMs;
      await this.#tellAll();
    }
    return this.#timings.checkMs;
  }

  async #tellAll(): Promise<void> {
    const { db, logger } = this.#options;
    try {
      this.#last = await alertsToTell(db);
    } catch (error) {
      logger.warn({ error, alerts: this.#last.length }, 'alerts cannot be read, the last ones are repeated');
    }
    const blind = this.#announced?.blindness;
    const now = Date.now();
    const alerts = alertmanagerAlerts(this.#last, this.#links, now);
    if (blind !== undefined) alerts.unshift(blindAlert(blind, this.#links, now));
    await Promise.all(this.#alertmanagers.map((alertmanager) => this.#tellOne(alertmanager, alerts, this.#last)));
  }

  async #tellOne(
    alertmanager: Alertmanager,
    alerts: Parameters<Alertmanager['tell']>[0],
    told: readonly ToldAlert[],
  ): Promise<void> {
    const { metrics, logger } = this.#options;
    const { receiver } = alertmanager;
    let problem: string | undefined;
    try {
      await alertmanager.tell(alerts);
    } catch (error) {
      problem = reasonOf(error);
      logger.warn({ receiver, problem }, 'alertmanager was not told');
    }
    if (alerts.length > 0) metrics.count('alertmanager', problem === undefined ? 'ok' : 'failed');
    await this.#book.note(receiver, told, problem).catch((error: unknown) => {
      logger.warn({ error, receiver }, 'notices of alerts cannot be written');
    });
  }
}

/** `fetch` hides the reason in the cause. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return describeError(cause).message;
}
