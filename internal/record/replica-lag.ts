import type { Database } from '../store/database.ts';
import { sql } from '../store/sql.ts';

/**
 * How far a replica is behind, in ms; undefined on a primary. A replica that is connected and has
 * replayed all that it received is not behind, however old the last transaction is. Without a
 * connection it may be behind by as much as that age. A user without `pg_read_all_stats` sees the
 * row of a connected receiver, without its status.
 */
export async function replicaLagMs(db: Database): Promise<number | undefined> {
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
