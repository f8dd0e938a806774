import { sql, type Kysely } from 'kysely';

/**
 * Expectations of automations, verdicts, alerts and notifications (ARCHITECTURE.md,
 * "Expectations").
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createAutomations(db);
  await createWebhooks(db);
  await createAlerts(db);
  await createDeliveries(db);
  await createController(db);
  for (const table of ['automations', 'webhooks', 'alerts', 'alert_notices', 'deliveries'])
    await showToReaders(db, table);
}

/**
 * No index on `next_at`: so an evaluation updates a row in its page. Reading all of 10,000 rows
 * takes a few milliseconds.
 */
async function createAutomations(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table automations (
      organization text collate "C" not null,
      automation_id uuid not null,
      namespace text not null,
      name text not null,
      uid text not null,
      generation bigint not null,
      display_name text not null,
      owner text not null,
      links jsonb not null,
      expect jsonb,
      alert_labels jsonb not null,
      suspend boolean not null,
      declared_at timestamptz(3) not null,
      next_at timestamptz(3),
      evaluated_at timestamptz(3),
      verdict jsonb,
      primary key (organization, automation_id)
    ) with (fillfactor = 50)
  `.execute(db);
}

async function createWebhooks(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table webhooks (
      organization text collate "C" not null,
      namespace text not null,
      name text not null,
      url text not null,
      secret_ref text not null,
      kinds text[] not null,
      filter jsonb not null,
      allow_private boolean not null,
      failing_since timestamptz(3),
      open_until timestamptz(3),
      primary key (organization, namespace, name)
    )
  `.execute(db);
}

async function createAlerts(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table alerts (
      id uuid primary key,
      organization text collate "C" not null,
      automation_id uuid not null,
      kind text not null check (kind in ('missing', 'late', 'overrunning', 'failing')),
      occurrence text collate "C" not null,
      reason text not null,
      facts jsonb not null,
      opened_at timestamptz(3) not null,
      seen_at timestamptz(3) not null,
      resolved_at timestamptz(3),
      resolved_reason text,
      unique (organization, automation_id, kind, occurrence, opened_at)
    )
  `.execute(db);
  await sql`create index alerts_open on alerts (organization, automation_id) where resolved_at is null`.execute(db);
  await sql`create index alerts_newest on alerts (organization, opened_at, id)`.execute(db);
  await sql`create index alerts_resolved on alerts (resolved_at)`.execute(db);
  await sql`
    create table alert_notices (
      alert_id uuid not null references alerts on delete cascade,
      receiver text not null,
      organization text collate "C" not null,
      first_told_at timestamptz(3),
      resolved_told_at timestamptz(3),
      last_error text,
      primary key (alert_id, receiver)
    )
  `.execute(db);
}

/** The outbox of webhooks, and its history: a row is due until it is delivered or given up. */
async function createDeliveries(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table deliveries (
      id uuid primary key,
      sequence bigint generated always as identity,
      organization text collate "C" not null,
      automation_id uuid not null,
      webhook_namespace text not null,
      webhook_name text not null,
      event jsonb not null,
      created_at timestamptz(3) not null default now(),
      attempts integer not null default 0,
      next_attempt_at timestamptz(3) not null default now(),
      last_status integer,
      last_error text,
      delivered_at timestamptz(3),
      given_up_at timestamptz(3)
    )
  `.execute(db);
  await sql`
    create index deliveries_due on deliveries (next_attempt_at) where delivered_at is null and given_up_at is null
  `.execute(db);
  await sql`
    create index deliveries_in_order on deliveries (organization, automation_id, webhook_namespace, webhook_name, sequence)
    where delivered_at is null and given_up_at is null
  `.execute(db);
  await sql`create index deliveries_newest on deliveries (organization, created_at, id)`.execute(db);
}

/** The one row of all controllers, and the times in which the record may lack events. */
async function createController(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table controller_state (
      only_row boolean primary key default true check (only_row),
      watermark timestamptz(3),
      watermark_at timestamptz(3),
      ticked_at timestamptz(3),
      blind_since timestamptz(3),
      blind_reason text,
      executions_until timestamptz(3)
    )
  `.execute(db);
  await sql`insert into controller_state default values`.execute(db);
  await sql`
    create table record_gaps (
      from_at timestamptz(3) primary key,
      until_at timestamptz(3) not null,
      reason text not null
    )
  `.execute(db);
}

/** Readers of `executions` may read the table; `internal/store/reader-role.ts` limits them. */
async function showToReaders(db: Kysely<unknown>, table: string): Promise<void> {
  await sql`alter table ${sql.table(table)} enable row level security`.execute(db);
  await sql`create policy everybody on ${sql.table(table)} using (true) with check (true)`.execute(db);
  await sql`
    do $$
    declare
      reader text;
    begin
      for reader in
        select case grantee when 0 then 'public' else grantee::regrole::text end
        from pg_class, aclexplode(relacl) where oid = 'executions'::regclass and privilege_type = 'SELECT'
      loop
        execute format('grant select on %I to %s', ${sql.lit(table)}, reader);
      end loop;
    end
    $$
  `.execute(db);
}
