import { sql, type RawBuilder } from 'kysely';
import { advisoryLocks } from './advisory-locks.ts';
import type { Database } from './database.ts';

/**
 * The role of every read query (docs/design/reading.md). A console whose user is in this role
 * can also keep sessions, read its keys, append to the access log and to owners' acts, and send tests
 * of channels.
 */
export const readerRole = 'runledger_reader';

/** Stands for the automation in a notification about none: a test of a channel. */
export const noAutomation = '00000000-0000-0000-0000-000000000000';

/** The tables that the role reads: rows of one organization. */
const readTables = [
  'events',
  'rewritten_events',
  'executions',
  'running_executions',
  'automations',
  'channels',
  'alerts',
  'alert_notices',
  'deliveries',
  'log_tails',
  'log_tiles',
  'log_trees',
  'log_checkpoints',
  'log_acts',
  'access_log',
  'console_automations',
  'acts',
];

/** What else the role reads: how far the record is behind, for all organizations alike. */
const sharedColumns = {
  controller_state: ['watermark', 'ticked_at', 'blind_reason'],
  record_gaps: ['from_at', 'until_at'],
} as const;

/**
 * True if this user can take the role, and the role sees all its tables but only one organization;
 * false before the first migration too. Postgres 16 distinguishes the right to take a role (SET)
 * from membership.
 */
export const readerRoleIsComplete = sql<boolean>`exists (
  select from pg_roles where rolname = ${sql.lit(readerRole)}
    and pg_has_role(oid, case when current_setting('server_version_num')::integer < 160000 then 'MEMBER' else 'SET' end)
    and ${sql.join(
      readTables.map((table) => sql`has_table_privilege(oid, to_regclass(${sql.lit(table)}), 'SELECT')`),
      sql` and `,
    )}
    and ${sql.join(
      Object.entries(sharedColumns).flatMap(([table, columns]) =>
        columns.map(
          (column) => sql`has_column_privilege(oid, to_regclass(${sql.lit(table)}), ${sql.lit(column)}, 'SELECT')`,
        ),
      ),
      sql` and `,
    )}
    and ${sql.lit(readTables.length)} = (
      select count(*) from pg_policy where polname = 'one_organization'
        and polrelid in (${sql.join(readTables.map((table) => sql`to_regclass(${sql.lit(table)})`))})
    )
)`;

/** True if the role can keep sessions and append to the access log. */
const readerRoleCanLogIn = sql<boolean>`exists (
  select from pg_roles where rolname = ${sql.lit(readerRole)} and ${mayLogIn(sql`oid`)}
)`;

/** True if the role can put tests of channels into the outbox, and acts into logs. */
const readerRoleCanTest = sql<boolean>`exists (
  select from pg_roles where rolname = ${sql.lit(readerRole)}
    and has_table_privilege(oid, to_regclass('deliveries'), 'INSERT')
    and has_table_privilege(oid, to_regclass('log_segments'), 'INSERT')
) and exists (select from pg_policy where polname = 'tests_only' and polrelid = to_regclass('deliveries'))`;

/** The rights on the tables of the login, for a user or the id of a role. */
export function mayLogIn(role: RawBuilder<unknown>): RawBuilder<boolean> {
  const has = (table: string, right: string) =>
    sql`coalesce(has_table_privilege(${role}, to_regclass(${sql.lit(table)}), ${sql.lit(right)}), false)`;
  const rights = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'].map((right) => has('sessions', right));
  const others = [
    has('access_log', 'INSERT'),
    has('console_keys', 'SELECT'),
    has('token_requests', 'INSERT'),
    has('acts', 'INSERT'),
  ];
  return sql<boolean>`(${sql.join([...rights, ...others], sql` and `)})`;
}

/**
 * Creates what is missing of the reader role, its rights and its policies, as far as this user may.
 * Resolves with true if this user can then take the role. Runs with every migration, because an
 * administrator may create the role later.
 */
export async function ensureReaderRole(db: Database): Promise<boolean> {
  if (!(await isTrue(db, sql`${readerRoleIsComplete} and ${readerRoleCanLogIn} and ${readerRoleCanTest}`))) {
    await db.transaction().execute(async (trx) => {
      await sql`select pg_advisory_xact_lock(${sql.lit(advisoryLocks.readerRole)})`.execute(trx);
      await sql`set local lock_timeout = '200ms'`.execute(trx);
      await createRole.execute(trx);
    });
  }
  return isTrue(db, readerRoleIsComplete);
}

async function isTrue(db: Database, condition: RawBuilder<unknown>): Promise<boolean> {
  const { rows } = await sql<{ holds: boolean }>`select ${condition} as holds`.execute(db);
  return rows[0]?.holds ?? false;
}

/** Tries each part separately: without CREATEROLE an existing role still gets its rights. */
const createRole = sql`
  do $$
  declare
    name text;
  begin
    begin
      if not exists (select from pg_roles where rolname = 'runledger_reader') then
        create role runledger_reader nologin;
      end if;
    exception when insufficient_privilege or duplicate_object or unique_violation then null;
    end;
    if not exists (select from pg_roles where rolname = 'runledger_reader') then
      return;
    end if;
    -- Postgres 16 makes the creator of a role a member who may not take it, and can grant without
    -- inheritance.
    begin
      if current_setting('server_version_num')::integer < 160000 then
        if not pg_has_role('runledger_reader', 'MEMBER') then
          grant runledger_reader to current_user;
        end if;
      elsif not pg_has_role('runledger_reader', 'SET') then
        execute 'grant runledger_reader to current_user with inherit false, set true';
      end if;
    exception when insufficient_privilege then null;
    end;
    execute format('grant usage on schema %I to runledger_reader',
      (select relnamespace::regnamespace::text from pg_class where oid = 'events'::regclass));
    foreach name in array array[${sql.join(readTables.map((table) => sql.lit(table)))}] loop
      execute format('grant select on %I to runledger_reader', name);
      if not exists (select from pg_policy where polname = 'one_organization' and polrelid = name::regclass) then
        execute format('create policy one_organization on %I as restrictive for select to runledger_reader '
          'using (organization = current_setting(''runledger.organization'', true))', name);
      end if;
    end loop;
    ${sql.raw(
      Object.entries(sharedColumns)
        .map(([table, columns]) => `grant select (${columns.join(', ')}) on ${table} to runledger_reader;`)
        .join(' '),
    )}
    grant insert on deliveries to runledger_reader;
    if not exists (select from pg_policy where polname = 'tests_only' and polrelid = 'deliveries'::regclass) then
      create policy tests_only on deliveries as restrictive for insert to runledger_reader with check (
        organization = current_setting('runledger.organization', true) and automation_id = ${sql.lit(noAutomation)}::uuid
      );
    end if;
    for name in select unnest(array['log_acts', 'log_segments']) loop
      execute format('grant insert on %I to runledger_reader', name);
      if not exists (select from pg_policy where polname = 'acts_of_one' and polrelid = name::regclass) then
        execute format('create policy acts_of_one on %I as restrictive for insert to runledger_reader '
          'with check (organization = current_setting(''runledger.organization'', true))', name);
      end if;
    end loop;
    if not exists (select from pg_policy where polname = 'own_acts' and polrelid = 'acts'::regclass) then
      create policy own_acts on acts as restrictive for insert to runledger_reader with check (
        organization = current_setting('runledger.organization', true) and recorded_at is null
      );
    end if;
    grant select, insert, update, delete on sessions to runledger_reader;
    grant insert on access_log, acts to runledger_reader;
    grant select on console_keys to runledger_reader;
    grant select on tokens, token_keeper, token_requests to runledger_reader;
    grant insert on token_requests to runledger_reader;
    grant insert, update, delete on console_automations to runledger_reader;
    grant select, insert, update on token_uses to runledger_reader;
    grant select on organization_databases to runledger_reader;
  end
  $$
`;
