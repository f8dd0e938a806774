import { sql, type QueryExecutorProvider } from 'kysely';

/** Partitions of `executions`: later releases can split each of them by itself. */
const modulus = 16;

/**
 * Creates `executions_partitioned` with the columns and the key of `executions`, and its empty
 * partitions. Migration 0012 uses it: columns and indexes of later migrations are not its concern.
 */
export async function createCopy(db: QueryExecutorProvider): Promise<void> {
  await actAsOwner(db);
  await sql`
    create table executions_partitioned (
      like executions including defaults including generated,
      primary key (organization, automation_id, execution_id)
    ) partition by hash (organization)
  `.execute(db);
  for (let remainder = 0; remainder < modulus; remainder += 1) {
    // Half of each page stays free for updates in place, as in migration 0003.
    await sql`
      create table ${sql.table(`executions_${remainder}`)} partition of executions_partitioned
      for values with (modulus ${sql.lit(modulus)}, remainder ${sql.lit(remainder)}) with (fillfactor = 50)
    `.execute(db);
  }
}

/** A table belongs to the owner of the old one, also if an administrator runs the migration. */
async function actAsOwner(db: QueryExecutorProvider): Promise<void> {
  await sql`
    select set_config('role', pg_get_userbyid(relowner), true) from pg_class where oid = 'executions'::regclass
  `.execute(db);
}

/**
 * Drops `executions` and gives its name, rights, policies and triggers to the partitioned copy.
 * Takes ACCESS EXCLUSIVE until the end of the transaction, a few milliseconds. Postgres deletes the
 * file of the old table after it has released the lock.
 */
export async function replaceByCopy(db: QueryExecutorProvider): Promise<void> {
  await actAsOwner(db);
  await sql`
    do $$
    declare
      statement text;
      triggers text[] := array(
        select pg_get_triggerdef(oid) from pg_trigger
        where tgrelid = 'executions'::regclass and not tgisinternal and tgname not like 'mirror_executions%'
        order by tgname
      );
    begin
      for statement in
        select format('grant %s on executions_partitioned to %s', privilege_type,
          case grantee when 0 then 'public' else grantee::regrole::text end)
        from pg_class, aclexplode(relacl) where oid = 'executions'::regclass and grantee <> relowner
        union all
        select format('create policy %I on executions_partitioned as %s for %s to %s', polname,
            case when polpermissive then 'permissive' else 'restrictive' end,
            case polcmd when 'r' then 'select' when 'a' then 'insert' when 'w' then 'update' when 'd' then 'delete' else 'all' end,
            (select string_agg(case role when 0 then 'public' else role::regrole::text end, ', ') from unnest(polroles) as role))
          || coalesce(' using (' || pg_get_expr(polqual, polrelid) || ')', '')
          || coalesce(' with check (' || pg_get_expr(polwithcheck, polrelid) || ')', '')
        from pg_policy where polrelid = 'executions'::regclass
      loop
        execute statement;
      end loop;
      drop table executions;
      alter table executions_partitioned rename to executions;
      alter table executions enable row level security;
      for statement in
        select format('alter index %I rename to %I', relname, replace(relname, 'executions_partitioned', 'executions'))
        from pg_index join pg_class on pg_class.oid = indexrelid where indrelid = 'executions'::regclass
      loop
        execute statement;
      end loop;
      foreach statement in array triggers loop
        execute statement;
      end loop;
    end
    $$
  `.execute(db);
}

/** True if a table has partitions. */
export async function isPartitioned(db: QueryExecutorProvider, table: string): Promise<boolean> {
  const { rows } = await sql<{ partitioned: boolean }>`
    select relkind = 'p' as partitioned from pg_class where oid = to_regclass(${table})
  `.execute(db);
  return rows[0]?.partitioned === true;
}
