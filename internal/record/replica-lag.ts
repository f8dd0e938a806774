import type { Database } from '../store/database.ts';
import { sql } from '../store/sql.ts';

/**
 * How far a replica is behind, in ms; undefined on a primary. A replica that has replayed all that
 * it received is not behind, however old the last transaction is.
 */
export async function replicaLagMs(db: Database): Promise<number | undefined> {
  const { rows } = await sql<{ lag: number | null }>`
    select case
      when not pg_is_in_recovery() then null
      when pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() then 0
      else coalesce(extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp())::float8 * 1000, 0)
    end as lag
  `.execute(db);
  return rows[0]?.lag ?? undefined;
}
