import { Repeating } from '../../kit/async/repeating.ts';
import type { Blindness } from '../../expectation/transition.ts';
import type { MacKey } from '../../ledger/mac.ts';
import type { Database } from '../../store/database.ts';
import type { Logger } from '../../kit/telemetry/logger.ts';
import type { NotifyMetrics } from './notify-metrics.ts';
import { alertMessages } from './alert-messages.ts';
import { blindAlert } from './alertmanager-alert.ts';
import { reasonOf, type Alertmanager } from './alertmanager.ts';
import { ConsoleLinks } from './links.ts';
import { NoticeBook } from './notice-book.ts';
import { quietAlerts } from './quiet-alerts.ts';
import { Silences } from './silences.ts';
import { alertsToTell, type ToldAlert } from './told-alerts.ts';

export interface AlertTellerOptions {
  db: Database;
  /** The name of the database, if there are several. */
  database?: string | undefined;
  /** The base of the links in alerts. */
  consoleUrl: URL | undefined;
  /** The keys with which consoles write mutes and acknowledgements; none without a log. */
  actKeys?: readonly MacKey[];
  metrics: NotifyMetrics;
  logger: Logger;
}

export interface AlertTimings {
  /** Interval at which each open alert is sent again, in ms. */
  repeatMs: number;
  /** How soon changes are sent, in ms. */
  checkMs: number;
  /** Maximum duration of a request, in ms. */
  timeoutMs: number;
}

/** Sends alerts to one Alertmanager, independently of the others. */
export class AlertTeller {
  readonly #options: AlertTellerOptions;
  readonly #timings: AlertTimings;
  readonly #announced: () => { blindness: Blindness | undefined } | undefined;
  readonly #links: ConsoleLinks;
  readonly #alertmanager: Alertmanager;
  readonly #book: NoticeBook;
  readonly #silences: Silences;
  readonly #rounds: Repeating;
  #last: readonly ToldAlert[] = [];
  #dueAt = 0;
  /** Whether it may have a blindness alert; undefined while another process may have sent one. */
  #isBlindTold: boolean | undefined;
  /** False after a request without an answer, which may still arrive after the next one. */
  #isSure = true;

  /** @param announced what this process sends; undefined while another one does. */
  constructor(
    alertmanager: Alertmanager,
    options: AlertTellerOptions,
    timings: AlertTimings,
    announced: () => { blindness: Blindness | undefined } | undefined,
  ) {
    this.#options = options;
    this.#timings = timings;
    this.#announced = announced;
    this.#links = new ConsoleLinks(options.consoleUrl);
    this.#alertmanager = alertmanager;
    this.#book = new NoticeBook(options.db, alertmanager.receiver);
    this.#silences = new Silences(alertmanager);
    this.#rounds = new Repeating(() => this.#check());
  }

  /** Sends in the next round, however recent the last one was. */
  hurry(): void {
    this.#dueAt = 0;
  }

  start(): void {
    this.#rounds.start();
  }

  async stop(): Promise<void> {
    await this.#rounds.stop();
  }

  async #check(): Promise<number> {
    const now = performance.now();
    const announced = this.#announced();
    if (announced === undefined) this.#isBlindTold = undefined;
    else if (now >= this.#dueAt) {
      this.#dueAt = now + this.#timings.repeatMs;
      await this.#tell(announced.blindness);
    }
    return this.#timings.checkMs;
  }

  async #tell(blindness: Blindness | undefined): Promise<void> {
    const { metrics, logger, database } = this.#options;
    const now = Date.now();
    const messages = alertMessages(await this.#read(), this.#links, now);
    await this.#silence();
    const isBlindNews = blindness !== undefined || this.#isBlindTold !== false;
    const blind = isBlindNews ? [blindAlert(blindness, this.#links, { now, database })] : [];
    if (messages.length + blind.length === 0) return;
    if (blindness !== undefined) this.#isBlindTold = true;
    const { problems, isUnsure } = await this.#alertmanager.tell([...blind, ...messages.map(({ message }) => message)]);
    const wasSure = this.#isSure;
    this.#isSure = !isUnsure;
    if (blind[0] !== undefined && blindness === undefined && wasSure && !problems.has(blind[0]))
      this.#isBlindTold = false;
    const [problem] = problems.values();
    metrics.count('alertmanager', problem === undefined ? 'ok' : 'failed');
    const { receiver } = this.#alertmanager;
    if (problem !== undefined) logger.warn({ receiver, problem, alerts: problems.size }, 'alertmanager was not told');
    const outcome = new Map<ToldAlert, string | undefined>();
    for (const { message, about } of messages) {
      for (const alert of about) outcome.set(alert, outcome.get(alert) ?? problems.get(message));
    }
    // A request without an answer may arrive after this one and reopen an alert.
    const isEnd = ({ resolvedAt }: ToldAlert): boolean => resolvedAt !== undefined;
    const told = Array.from(outcome, ([alert, why]) => ({ alert, problem: why }));
    const noted = wasSure ? told : told.filter(({ alert, problem: why }) => why !== undefined || !isEnd(alert));
    if (noted.length < told.length) this.hurry();
    await this.#book.end(noted).catch((error: unknown) => {
      logger.warn({ error, receiver }, 'notices of alerts cannot be written');
    });
  }

  /**
   * Lets the Alertmanager repeat nothing that is muted or acknowledged. While Postgres is
   * unavailable, silences end by themselves.
   */
  async #silence(): Promise<void> {
    const { db, logger, actKeys = [] } = this.#options;
    const { receiver } = this.#alertmanager;
    try {
      await this.#silences.keep(await quietAlerts(db, { receiver, actKeys, links: this.#links }));
    } catch (error) {
      logger.warn({ receiver, problem: reasonOf(error) }, 'alertmanager was not silenced');
    }
  }

  /**
   * The alerts to send. While Postgres is unavailable, the open ones of the last round: a replica
   * may restart.
   */
  async #read(): Promise<readonly ToldAlert[]> {
    const { db, logger } = this.#options;
    try {
      const alerts = await alertsToTell(db, this.#alertmanager.receiver);
      await this.#book.begin(alerts);
      this.#last = alerts.filter(({ resolvedAt }) => resolvedAt === undefined);
      return alerts;
    } catch (error) {
      logger.warn({ error, alerts: this.#last.length }, 'alerts cannot be read, the last ones are repeated');
      return this.#last;
    }
  }
}
