import type { ClientBase } from 'pg';

/**
 * Prepares a connection before its first use, by statement, because poolers reject startup
 * parameters. It turns `synchronous_commit` on if it is off: a commit must survive a crash, since
 * its job has left Redis. It sets the ISO date style, in which bounds of partitions are read.
 * Resolves with a sentence for each other setting that loses commits.
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
