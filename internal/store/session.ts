import type { ClientBase } from 'pg';

/**
 * Prepares a connection before its first use. Set by statement, not as a startup parameter, which
 * poolers refuse.
 *
 * `synchronous_commit = off` would let Postgres lose a commit whose job has left Redis: it is
 * switched on; stronger settings are left alone. Bounds of partitions are read as text: in the ISO
 * style, whose time zones are numbers, wherever the database is. Resolves with what else makes
 * Postgres lose commits, one sentence each.
 */
export async function prepareSession(client: ClientBase, statementTimeout: number): Promise<string[]> {
  const { rows } = await client.query<{ fsync: string }>(
    `select
       set_config('statement_timeout', $1, false),
       set_config('synchronous_commit', case when setting = 'off' then 'on' else setting end, false),
       set_config('DateStyle', 'ISO', false),
       current_setting('fsync') as fsync
     from current_setting('synchronous_commit') as setting`,
    [String(statementTimeout)],
  );
  return rows[0]?.fsync === 'off' ? ['fsync is off, must be on'] : [];
}
