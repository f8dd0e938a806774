import { Repeating } from '../kit/async/repeating.ts';
import { within } from '../kit/async/within.ts';
import type { WatchMetrics } from './console-metrics.ts';
import type { Logger } from '../kit/telemetry/logger.ts';
import type { Database } from '../store/database.ts';
import { sql } from '../store/sql.ts';
import { usesReaderRole } from './role-of-queries.ts';

/** Interval of checks, and longest duration of one, in ms. */
const intervalMs = 2_000;
const longestMs = 5_000;

/** Checks the database of a console: whether it answers, its role, and its lag as a replica. */
export class RecordWatch {
  readonly name = 'record watch';
  readonly #db: Database;
  readonly #metrics: WatchMetrics;
  readonly #logger: Logger;
  readonly #looks = new Repeating(() => this.#look());
  #problem: string | undefined = 'Postgres has not been asked yet.';
  #answeredOnce = false;
  #lagMs: number | undefined;
  #readerRole: boolean | undefined;

  constructor(db: Database, metrics: WatchMetrics, logger: Logger) {
    this.#db = db;
    this.#metrics = metrics;
    this.#logger = logger;
  }

  /** Why the record cannot be read now; undefined when it can. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Why the record could never be read yet; undefined once it could. */
  get neverAnswered(): string | undefined {
    return this.#answeredOnce ? undefined : this.#problem;
  }

  /** How far the replica was behind at the last check, in ms; undefined for a primary. */
  get lagMs(): number | undefined {
    return this.#lagMs;
  }

  async start(): Promise<void> {
    this.#looks.start();
  }

  async stop(): Promise<void> {
    await this.#looks.stop();
  }

  async #look(): Promise<number> {
    try {
      await within(longestMs, this.#read());
      this.#problem = undefined;
      this.#answeredOnce = true;
    } catch (error) {
      if (this.#problem === undefined || !this.#answeredOnce) this.#logger.warn({ error }, 'postgres cannot be read');
      this.#problem = 'Postgres does not answer.';
      this.#lagMs = undefined;
      this.#metrics.replicaLag.remove();
    }
    return intervalMs;
  }

  async #read(): Promise<void> {
    this.#lagMs = await replicaLagMs(this.#db);
    if (this.#lagMs === undefined) this.#metrics.replicaLag.remove();
    else this.#metrics.replicaLag.set(this.#lagMs / 1_000);
    const readerRole = await usesReaderRole(this.#db);
    this.#metrics.readerRole.set(Number(readerRole));
    if (!readerRole && this.#readerRole !== false) this.#logger.warn('queries do not run as runledger_reader');
    this.#readerRole = readerRole;
  }
}

/**
 * How far a replica is behind, in ms; undefined on a primary. A connected replica that has replayed
 * all it received is not behind; without a connection it may be behind by the age of its last
 * transaction. A user without `pg_read_all_stats` sees a connected receiver's row, but not its
 * status.
 */
async function replicaLagMs(db: Database): Promise<number | undefined> {
  const { rows } = await sql<{ lag: number | null }>`
    select case
      when not pg_is_in_recovery() then null
      when pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn()
        and exists (select from pg_stat_wal_receiver where coalesce(status, 'streaming') = 'streaming') then 0
      else extract(epoch from
        clock_timestamp() - coalesce(pg_last_xact_replay_timestamp(), pg_postmaster_start_time()))::float8 * 1000
    end as lag
  `.execute(db);
  return rows[0]?.lag ?? undefined;
}
