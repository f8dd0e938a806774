import { sql } from '../../store/sql.ts';
import type { Finding } from './finding.ts';
import type { Parts } from './parts.ts';
import type { Reading } from './read-database.ts';

/**
 * The tables whose rows `verify` reads, and readers too, with the other columns of their primary
 * keys, sorted.
 */
const keys = {
  events: 'created_at id',
  executions: 'automation_id execution_id',
  running_executions: 'automation_id execution_id',
  compacted_executions: 'id',
  compacted_keys: 'block key',
  erasures: 'id',
  dead_letters: 'id',
  acts: 'id',
  cold_days: 'day object',
  log_acts: 'id',
  log_segments: 'id',
  log_tails: 'first_index',
  log_tiles: 'index level',
  log_trees: '',
  log_checkpoints: 'hour',
};
const tables = Object.keys(keys);

/** The rules of policies that hide nothing from auditors: that of `showToReaders` is the second. */
const harmless = [
  'true',
  `(NOT COALESCE(pg_has_role((to_regrole('runledger_reader'::text))::oid, 'USAGE'::text), false))`,
];

/**
 * What the owner of a database could change of its tables so that this user sees other rows than
 * readers do, or a row twice: the catalog of Postgres says so, whoever asks. Tables of the same
 * name in several schemas may be those of two installations, so they become a problem.
 */
export async function checkTables(trx: Reading, parts: Parts): Promise<Finding[]> {
  const { rows } = await sql<{ sentence: string }>`
    with known as (
      select c.*, key from unnest(${tables}::text[], ${Object.values(keys)}::text[]) as table_of (name, key)
      join pg_class c on c.oid = to_regclass(name)
    )
    select relname || ' is no table: something else was put in its place' as sentence
    from known where relkind not in ('r', 'p')
    union all
    select inhparent::regclass || ' has rows of ' || inhrelid::regclass || ', which is no part of it'
    from pg_inherits join known on known.oid = inhparent join pg_class child on child.oid = inhrelid
    where known.relkind <> 'p' or child.relkind not in ('r', 'p')
    union all
    select relname || ' has lost its primary key, so that rows may be in it twice'
    from known where relkind in ('r', 'p')
      and not exists (
        select from pg_index where indrelid = known.oid and indisprimary and indisvalid and (
          select string_agg(attname, ' ' order by attname) from pg_attribute
          where attrelid = indrelid and attnum = any(indkey)
        ) = ltrim(key || ' organization')
      )
    union all
    select relname || ' has the policy ' || polname || ', which may hide rows from some users'
    from known join pg_policy on polrelid = known.oid
    where polcmd in ('r', '*') and not (polpermissive and pg_get_expr(polqual, polrelid) = any(${harmless}::text[]))
      and polroles is distinct from array[to_regrole('runledger_reader')::oid]
    union all
    select relname || '.' || attname || ' has the type ' || format_type(atttypid, atttypmod) || ', which hides changes'
    from known join pg_attribute on attrelid = known.oid
    where relname = 'events' and attname in ('created_at', 'occurred_at')
      and format_type(atttypid, atttypmod) <> 'timestamp(3) with time zone'
    order by 1
  `.execute(trx);
  const { rows: several } = await sql<{ schemas: string; own: string }>`
    select string_agg(distinct relnamespace::regnamespace::text, ', ') as schemas,
      (select relnamespace::regnamespace::text from pg_class where oid = to_regclass('log_tiles')) as own
    from pg_class where relname = any(${tables}::text[]) and relnamespace <> pg_my_temp_schema()
    having count(distinct relnamespace) > 1
  `.execute(trx);
  for (const { schemas, own } of several) {
    parts.add(`The database has tables of these names in the schemas ${schemas}; only those of ${own} were checked.`);
  }
  return rows.map(({ sentence }) => ({ sentence: `The table ${sentence}.` }));
}
