import type { Database } from '../store/database.ts';
import { sql } from '../store/sql.ts';

/** Rows a second beyond which workers need their cores: some 2,500 events. */
const busyRows = 5_000;

/** Shortest time between two looks, in ms: sessions report their rows once a second. */
const intervalMs = 1_000;

interface Look {
  at: number;
  rows: number;
}

/** Looks at how many rows are written into a database. */
export class WriteRate {
  readonly #db: Database;
  #last: Look | undefined;
  #busy = true;

  constructor(db: Database) {
    this.#db = db;
  }

  /** True if many rows are written now, also at the first look. False on a replica. */
  async isBusy(): Promise<boolean> {
    const before = this.#last;
    const at = performance.now();
    if (before !== undefined && at - before.at < intervalMs) return this.#busy;
    const { rows } = await sql<{ rows: number }>`
      select (tup_inserted + tup_updated)::float8 as rows from pg_stat_database where datname = current_database()
    `.execute(this.#db);
    const look = { at, rows: rows[0]?.rows ?? 0 };
    if (before !== undefined) this.#busy = (look.rows - before.rows) * 1_000 > busyRows * (at - before.at);
    this.#last = look;
    return this.#busy;
  }
}
