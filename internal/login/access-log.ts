import type { Context } from '../intake/http/page-route.ts';
import { Repeating } from '../kit/async/repeating.ts';
import type { Database } from '../store/database.ts';
import type { AccessLogTable } from '../store/tables/access-log-table.ts';
import { isDataError } from '../store/errors.ts';
import { serveQuery } from './serve-query.ts';
import type { LoginMetrics } from './login-metrics.ts';
import type { Logger } from '../kit/telemetry/logger.ts';
import { plainText } from '../kit/telemetry/plain-text.ts';

/** Somebody reads the record of an organization, changes something, or is refused. */
export interface Access {
  /** Issuer and subject of a person, or the name of a read token; `unknown` if refused. */
  subject: string;
  name: string;
  /** Empty if nobody has logged in. */
  organization: string;
  action: AccessLogTable['action'];
  /** The subject of the action, such as the name of a token. */
  detail?: string | undefined;
  /** The caller's address, as limits count it. */
  address: string;
}

/** Records an access that a request makes. */
export type NoteEntry = (ctx: Context, access: Omit<Access, 'address'>) => void;

/** The entry for somebody refused before any login. */
export const refusedEntry = { subject: 'unknown', name: '', organization: '', action: 'refused' } as const;

/** An entry of the log, and how many requests it stands for. */
type Entry = Noted & { at: Date; requests: number };

type Noted = Access & { detail: string };

/** Frequent actions: one entry stands for all of them within ten minutes. */
const often: ReadonlySet<Access['action']> = new Set(['looked', 'refused']);

/** Requests without an entry of their own, since the same access has one. */
interface Repeated {
  access: Noted;
  notedAt: number;
  lastAt: number;
  requests: number;
}

export interface AccessLogOptions {
  db: Database;
  metrics: LoginMetrics;
  logger: Logger;
  /** The time now, in ms. */
  now?: () => number;
}

/** Repeated looks within this time are only counted; a second entry with the count follows. */
const sameLookMs = 10 * 60_000;

/** Maximum number of looks remembered; beyond it, all counts are written and forgotten. */
const mostLooks = 10_000;

/** Maximum entries per statement, and maximum waiting while Postgres is unavailable. */
const batch = 500;
const mostWaiting = 5_000;

const intervalMs = 1_000;

/**
 * Records who reads or changes which organization, or is refused: a log line at once, and a row in
 * the table `access_log` within about a second. While the table cannot be written, entries wait.
 * The table loses entries past the limit or left at the stop; logs and metrics say so.
 */
export class AccessLog {
  readonly name = 'access log';
  readonly #options: AccessLogOptions;
  readonly #now: () => number;
  readonly #repeated = new Map<string, Repeated>();
  readonly #waiting: Entry[] = [];
  readonly #writes = new Repeating(async () => {
    this.#noteRepeated(this.#now() - sameLookMs);
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

  note(given: Access): void {
    const access = cleaned(given);
    if (often.has(access.action) && this.#isRepeated(access)) return;
    this.#add({ ...access, at: new Date(this.#now()), requests: 1 });
  }

  /**
   * Records an act before it is done: resolves once the table has the entry.
   * @throws {RequestError} if it cannot be written now.
   */
  async noteFirst(given: Access): Promise<void> {
    const entry = { ...cleaned(given), at: new Date(this.#now()), requests: 1 };
    const { db, metrics } = this.#options;
    this.#log(entry);
    await serveQuery('The access log cannot be written now.', () =>
      db.insertInto('access_log').values(entry).execute(),
    );
    metrics.written(1);
  }

  async start(): Promise<void> {
    this.#writes.start();
  }

  /** Writes what waits. */
  async stop(): Promise<void> {
    await this.#writes.stop();
    this.#noteRepeated(Infinity);
    await this.#write();
    this.#lose(this.#waiting.length);
  }

  #add(entry: Entry): void {
    this.#log(entry);
    this.#waiting.push(entry);
    if (this.#waiting.length > mostWaiting) this.#lose(batch);
  }

  #log(entry: Entry): void {
    const { at: _, ...fields } = entry;
    this.#options.logger.info({ audit: true, ...fields }, 'record accessed');
  }

  /** Counts an access if the same one has a recent entry. */
  #isRepeated(access: Noted): boolean {
    const { subject, organization, action, address } = access;
    const key = JSON.stringify([subject, organization, action, address]);
    const now = this.#now();
    this.#noteRepeated(now - sameLookMs);
    const known = this.#repeated.get(key);
    if (known !== undefined) {
      known.requests += 1;
      known.lastAt = now;
      return true;
    }
    if (this.#repeated.size >= mostLooks) this.#noteRepeated(Infinity);
    this.#repeated.set(key, { access, notedAt: now, lastAt: now, requests: 0 });
    return false;
  }

  /** Writes the counts of accesses recorded up to a time, and forgets them. */
  #noteRepeated(upTo: number): void {
    // The map keeps them in the order of `notedAt`.
    for (const [key, { access, notedAt, lastAt, requests }] of this.#repeated) {
      if (notedAt > upTo) return;
      this.#repeated.delete(key);
      if (requests > 0) this.#add({ ...access, at: new Date(lastAt), requests });
    }
  }

  async #write(): Promise<void> {
    const { db, metrics, logger } = this.#options;
    /** How many entries to write one by one after a refusal, so that only the bad one is lost. */
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
      // The limit may have dropped the oldest entries in the meantime.
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

function cleaned({ name, address, detail = '', ...given }: Access): Noted {
  return { ...given, name: plainText(name), address: plainText(address), detail: plainText(detail) };
}
