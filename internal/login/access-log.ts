import { Repeating } from '../async/repeating.ts';
import type { Database } from '../store/database.ts';
import { isDataError } from '../store/errors.ts';
import type { LoginMetrics } from '../telemetry/login-metrics.ts';
import type { Logger } from '../telemetry/logger.ts';
import { plainText } from '../telemetry/plain-text.ts';

/** Somebody reads the record of an organization. */
export interface Access {
  /** Issuer and subject of a person, or the name of a read token. */
  subject: string;
  name: string;
  organization: string;
  action: 'looked' | 'exported';
}

export interface AccessLogOptions {
  db: Database;
  metrics: LoginMetrics;
  logger: Logger;
  /** The time now, in ms. */
  now?: () => number;
}

/** Who looks again within this time is not noted again; each export is. */
const sameLookMs = 10 * 60_000;

/** Most looks that are remembered; past it all are forgotten, and the next ones noted again. */
const mostLooks = 10_000;

/** Most entries of one statement, and most that wait while Postgres is unavailable. */
const batch = 500;
const mostWaiting = 5_000;

const intervalMs = 1_000;

/**
 * Notes who reads which organization: a line in the log at once, and a row in the table
 * `access_log` within about a second. When the table cannot be written, entries wait; those past
 * the limit, or left at the stop, are lost to the table. Logs and metrics say so.
 */
export class AccessLog {
  readonly name = 'access log';
  readonly #options: AccessLogOptions;
  readonly #now: () => number;
  readonly #looks = new Map<string, number>();
  readonly #waiting: (Access & { at: Date })[] = [];
  readonly #writes = new Repeating(async () => {
    await this.#write();
    return intervalMs;
  });
  #failing = false;

  constructor(options: AccessLogOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /** Why the table cannot be written now; undefined when it can. */
  get problem(): string | undefined {
    return this.#failing ? 'The table access_log cannot be written: entries wait.' : undefined;
  }

  note(access: Access): void {
    if (access.action === 'looked' && this.#isKnown(access)) return;
    const { subject, organization, action } = access;
    const name = plainText(access.name);
    this.#options.logger.info({ audit: true, subject, name, organization, action }, 'record accessed');
    this.#waiting.push({ subject, name, organization, action, at: new Date(this.#now()) });
    if (this.#waiting.length > mostWaiting) this.#lose(batch);
  }

  async start(): Promise<void> {
    this.#writes.start();
  }

  /** Writes what waits. */
  async stop(): Promise<void> {
    await this.#writes.stop();
    await this.#write();
    this.#lose(this.#waiting.length);
  }

  #isKnown({ subject, organization }: Access): boolean {
    const key = JSON.stringify([subject, organization]);
    const now = this.#now();
    const last = this.#looks.get(key);
    if (last !== undefined && now - last < sameLookMs) return true;
    if (this.#looks.size >= mostLooks) this.#looks.clear();
    this.#looks.set(key, now);
    return false;
  }

  async #write(): Promise<void> {
    const { db, metrics, logger } = this.#options;
    /** One by one after a refusal, so that only the entry at fault is lost. */
    let alone = 0;
    while (this.#waiting.length > 0) {
      const entries = this.#waiting.slice(0, alone > 0 ? 1 : batch);
      alone = Math.max(0, alone - 1);
      try {
        await db.insertInto('access_log').values(entries).execute();
      } catch (error) {
        if (isDataError(error)) {
          // An entry that Postgres refuses must not delay the next ones.
          if (entries.length > 1) alone = entries.length;
          else {
            logger.error({ error }, 'access log entry refused');
            this.#lose(1);
          }
          continue;
        }
        if (!this.#failing) logger.error({ error }, 'access log cannot be written, entries wait');
        this.#failing = true;
        return;
      }
      if (this.#failing) logger.info('access log is written again');
      this.#failing = false;
      // Entries that the limit dropped meanwhile were the oldest.
      const written = new Set(entries);
      const rest = this.#waiting.filter((entry) => !written.has(entry));
      this.#waiting.splice(0, this.#waiting.length, ...rest);
      metrics.written(entries.length);
    }
  }

  /** Drops the oldest entries. */
  #lose(count: number): void {
    if (count === 0) return;
    this.#waiting.splice(0, count);
    this.#options.metrics.lost(count);
    this.#options.logger.error({ count }, 'entries are missing in the table access_log');
  }
}
