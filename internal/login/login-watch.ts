import { Repeating } from '../kit/async/repeating.ts';
import { within } from '../kit/async/within.ts';
import type { Database } from '../store/database.ts';
import { mayLogIn } from '../store/reader-role.ts';
import { sql } from '../store/sql.ts';
import type { LoginMetrics } from './login-metrics.ts';
import type { Logger } from '../kit/telemetry/logger.ts';

export interface LoginWatchOptions {
  db: Database;
  /** The setting with the address of that database. */
  setting: string;
  metrics: LoginMetrics;
  logger: Logger;
}

/** Time between two checks, and maximum duration of one, in ms. */
const intervalMs = 5_000;
const longestMs = 5_000;

/** Checks whether the console can write sessions and the access log, and says why not. */
export class LoginWatch {
  readonly name = 'login watch';
  readonly #options: LoginWatchOptions;
  readonly #looks = new Repeating(() => this.#look());
  #problem: string | undefined;

  constructor(options: LoginWatchOptions) {
    this.#options = options;
  }

  /** Why nobody can log in now; undefined when people can. */
  get problem(): string | undefined {
    return this.#problem;
  }

  async start(): Promise<void> {
    this.#looks.start();
  }

  async stop(): Promise<void> {
    await this.#looks.stop();
  }

  async #look(): Promise<number> {
    const { metrics, logger } = this.#options;
    const [problem, error] = await within(longestMs, this.#ask()).then(
      (found) => [found, undefined] as const,
      (failed: unknown) => ['Postgres does not answer.', failed] as const,
    );
    metrics.writable.set(problem === undefined ? 1 : 0);
    if (problem !== undefined && problem !== this.#problem) logger.error({ problem, error }, 'nobody can log in');
    if (problem === undefined && this.#problem !== undefined) logger.info('people can log in again');
    this.#problem = problem;
    return intervalMs;
  }

  async #ask(): Promise<string | undefined> {
    const { db, setting } = this.#options;
    const { rows } = await sql<{ replica: boolean; allowed: boolean }>`
      select pg_is_in_recovery() as replica, ${mayLogIn(sql`current_user`)} as allowed
    `.execute(db);
    if (rows[0]?.replica === true) {
      return `${setting} names a replica, which cannot be written: set DATABASE_URL to its primary.`;
    }
    if (rows[0]?.allowed === true) return undefined;
    return `The user of ${setting} may not write sessions and access_log: run runledger-admin migrate, or grant it runledger_reader.`;
  }
}
