import { sql, type RawBuilder } from 'kysely';
import { advisoryLocks } from './advisory-locks.ts';
import type { Database } from './database.ts';

/**
 * The role of every read query (docs/design/reading.md). A console whose user is in this role
 * can also keep sessions, read its keys, append to the access log and to owners' acts, and send
 * tests of channels.
 */
export const readerRole = 'runledger_reader';

/** Stands for the automation in a notification about none: a test of a channel. */
export const noAutomation = '00000000-0000-0000-0000-000000000000';

/** The tables that the role reads: rows of one organization. */
const readTables = [
  'events',
  'rewritten_events',
  'cold_days',
  'executions',
  'running_executions',
  'compacted_executions',
  'compacted_keys',
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
  'console_channels',
  'acts',
];

/** What else the role reads: how far the record is behind, for all organizations alike. */
const sharedColumns = {
  controller_state: ['watermark', 'ticked_at', 'blind_reason', 'alertmanagers'],
  record_gaps: ['from_at', 'until_at'],
} as const;

/** The rows of the organization that a transaction has set. */
const ofOne = `organization = current_setting('runledger.organization', true)`;

/** What the role writes, with the condition of its rows. */
const written: readonly { table: string; rights: readonly ('insert' | 'update' | 'delete')[]; rows: string }[] = [
  { table: 'deliveries', rights: ['insert'], rows: `${ofOne} and automation_id = '${noAutomation}'` },
  { table: 'log_acts', rights: ['insert'], rows: ofOne },
  { table: 'log_segments', rights: ['insert'], rows: ofOne },
  { table: 'acts', rights: ['insert'], rows: `${ofOne} and recorded_at is null` },
  { table: 'console_automations', rights: ['insert', 'update', 'delete'], rows: ofOne },
  { table: 'console_channels', rights: ['insert', 'update', 'delete'], rows: ofOne },
  // Someone who has logged in nowhere belongs to no organization.
  { table: 'access_log', rights: ['insert'], rows: 'true' },
];

/**
 * The policies of the role. All are permissive, and `everybody` leaves its members out: a
 * distributed Postgres may copy a restrictive policy as a permissive one, without a word.
 */
const policies = [
  ...readTables.map((table) => ({
    table,
    name: 'one_organization',
    rule: `for select to ${readerRole} using (${ofOne})`,
  })),
  ...written.flatMap(({ table, rights, rows }) =>
    rights.map((right) => {
      const condition = right === 'insert' ? `with check (${rows})` : `using (${rows})`;
      return { table, name: `reader_${right}`, rule: `for ${right} to ${readerRole} ${condition}` };
    }),
  ),
];

const grants = [
  `grant select on ${readTables.join(', ')} to ${readerRole};`,
  ...Object.entries(sharedColumns).map(
    ([table, columns]) => `grant select (${columns.join(', ')}) on ${table} to ${readerRole};`,
  ),
  ...written.map(({ table, rights }) => `grant ${rights.join(', ')} on ${table} to ${readerRole};`),
  ...policies.map(
    ({ table, name, rule }) => `
      if not exists (select from pg_policy where polname = '${name}' and polrelid = '${table}'::regclass) then
        create policy ${name} on ${table} ${rule};
      end if;`,
  ),
];

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
    and ${hasPolicies('one_organization')}
)`;

/** True if the role can keep sessions and append to the access log. */
const readerRoleCanLogIn = sql<boolean>`exists (
  select from pg_roles where rolname = ${sql.lit(readerRole)} and ${mayLogIn(sql`oid`)}
)`;

/** True if the role can write what a console writes. */
const readerRoleCanWrite = sql<boolean>`exists (
  select from pg_roles where rolname = ${sql.lit(readerRole)} and ${sql.join(
    written.flatMap(({ table, rights }) =>
      rights.map((right) => sql`has_table_privilege(oid, to_regclass(${sql.lit(table)}), ${sql.lit(right)})`),
    ),
    sql` and `,
  )}
) and ${hasPolicies('reader_insert')} and ${hasPolicies('reader_update')} and ${hasPolicies('reader_delete')}`;

/** True if each table that needs a policy of this name has it. */
function hasPolicies(name: string): RawBuilder<boolean> {
  const tables = policies.filter((policy) => policy.name === name).map(({ table }) => table);
  return sql`${sql.lit(tables.length)} = (
    select count(*) from pg_policy where polname = ${sql.lit(name)}
      and polrelid in (${sql.join(tables.map((table) => sql`to_regclass(${sql.lit(table)})`))})
  )`;
}

/** The rights on the tables of the login, for a user or the id of a role. */
export function mayLogIn(role: RawBuilder<unknown>): RawBuilder<boolean> {
  const has = (table: string, right: string) =>
    sql`coalesce(has_table_privilege(${role}, to_regclass(${sql.lit(table)}), ${sql.lit(right)}), false)`;
  const rights = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'].map((right) => has('sessions', right));
  const others = [has('access_log', 'INSERT'), has('console_keys', 'SELECT'), has('token_requests', 'INSERT')];
  return sql<boolean>`(${sql.join([...rights, ...others], sql` and `)})`;
}

/**
 * Creates what is missing of the reader role, its rights and its policies, as far as this user may.
 * Resolves with true if this user can then take the role. Runs with every migration, because an
 * administrator may create the role later.
 */
export async function ensureReaderRole(db: Database): Promise<boolean> {
  if (!(await isTrue(db, sql`${readerRoleIsComplete} and ${readerRoleCanLogIn} and ${readerRoleCanWrite}`))) {
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
    ${sql.raw(grants.join('\n'))}
    grant select, insert, update, delete on sessions to runledger_reader;
    grant select on console_keys to runledger_reader;
    grant select on tokens, token_keeper, token_requests to runledger_reader;
    grant insert on token_requests to runledger_reader;
    grant select on channel_keys to runledger_reader;
    grant select, insert, update on token_uses to runledger_reader;
    grant select on organization_databases to runledger_reader;
  end
  $$
`;
