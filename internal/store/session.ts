import type { ClientBase } from 'pg';

/** What a new connection learned about its server. */
export interface Session {
  /** A sentence for each setting that may lose commits and that only the server can change. */
  missing: string[];
  /** True behind a pooler: each transaction may run in another session of Postgres. */
  pooled: boolean;
}

/**
 * Prepares a connection before its first use, by a statement, because poolers reject startup
 * parameters. A connection is behind a pooler if its process id is not that of its backend; its
 * session stays as it is, since other clients share it.
 */
export async function prepareSession(client: ClientBase, statementTimeout: number): Promise<Session> {
  // Undocumented in pg: the process id that the server sent for cancelling.
  const { processID } = client as ClientBase & { processID?: number | null };
  const { rows } = await client.query<{ pid: number; fsync: string }>(
    `select pg_backend_pid() as pid, current_setting('fsync') as fsync`,
  );
  const pooled = rows[0]?.pid !== processID;
  if (!pooled) await client.query(settings(statementTimeout, 'session'));
  return { missing: rows[0]?.fsync === 'off' ? ['fsync is off, must be on'] : [], pooled };
}

/**
 * The statement with the settings of a session, or of the transaction that it begins. A commit must
 * survive a crash, since its job has left Redis. Partition bounds are read in the ISO date style.
 * Postgres' log gets no texts of events: neither parameters nor, if this user may set that, the row
 * that a statement failed on.
 */
export function settings(statementTimeout: number, scope: 'session' | 'transaction'): string {
  const local = scope === 'transaction';
  return `select
    set_config('statement_timeout', '${statementTimeout}', ${local}),
    set_config('synchronous_commit', case setting when 'off' then 'on' else setting end, ${local}),
    set_config('DateStyle', 'ISO', ${local}),
    set_config('log_parameter_max_length_on_error', '0', ${local}),
    case when has_parameter_privilege('log_error_verbosity', 'set')
      then set_config('log_error_verbosity', 'terse', ${local}) end
  from current_setting('synchronous_commit') as setting`;
}
