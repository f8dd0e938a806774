import { sql } from 'kysely';

/**
 * Only a search per key suits both a short and a long list of keys. Holds for the rest of a
 * transaction.
 */
export const searchByKey = sql`
  select set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
    set_config('enable_mergejoin', 'off', true)
`;

/** Undoes {@link searchByKey}. */
export const planAsUsual = sql`
  select set_config(name, reset_val, true) from pg_settings
  where name in ('enable_seqscan', 'enable_hashjoin', 'enable_mergejoin')
`;
