import type { Database } from '../store/database.ts';
import { sql } from '../store/sql.ts';

/** Rows a second beyond which workers need the cores: some 2,500 events. */
const busyRows = 5_000;

/**
 * Shortest and longest time between two measurements that describe the present, in ms. Sessions
 * report their rows once a second.
 */
const [shortestMs, longestMs] = [1_000, 3_000];

interface Look {
  at: number;
  rows: number;
}

/** Measures how many rows are written to a database. */
export class WriteRate {
  readonly #db: Database;
  #last: Look | undefined;
  #busy = true;

  constructor(db: Database) {
    this.#db = db;
  }

  /** True if many rows are written now, or if the last measurement is too old to tell. */
  async isBusy(): Promise<boolean> {
    const before = this.#last;
    const at = performance.now();
    const sinceMs = before === undefined ? Infinity : at - before.at;
    if (sinceMs < shortestMs) return this.#busy;
    const { rows } = await sql<{ rows: number }>`
      select (tup_inserted + tup_updated)::float8 as rows from pg_stat_database where datname = current_database()
    `.execute(this.#db);
    const look = { at, rows: rows[0]?.rows ?? 0 };
    const written = look.rows - (before?.rows ?? 0);
    this.#busy = sinceMs > longestMs || written * 1_000 > busyRows * sinceMs;
    this.#last = look;
    return this.#busy;
  }
}
