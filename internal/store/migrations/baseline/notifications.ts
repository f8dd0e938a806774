import { sql, type Kysely } from 'kysely';
import { showToReaders } from './show-to-readers.ts';

/** Webhooks, and their outbox, which is also its history. */
export async function createNotifications(db: Kysely<unknown>): Promise<void> {
  await createWebhooks(db);
  await createDeliveries(db);
  await showToReaders(db, 'webhooks', 'deliveries');
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

/** A row is due until it is delivered or given up. */
async function createDeliveries(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table deliveries (
      id uuid not null,
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
      given_up_at timestamptz(3),
      primary key (organization, id)
    )
  `.execute(db);
  await sql`create index deliveries_of_id on deliveries (id)`.execute(db);
  await sql`create index deliveries_newest on deliveries (organization, created_at, id)`.execute(db);
  await indexWaitingDeliveries(db);
  // Finds old deliveries to delete.
  await sql`
    create index deliveries_over on deliveries (coalesce(delivered_at, given_up_at))
    where delivered_at is not null or given_up_at is not null
  `.execute(db);
}

/**
 * Indexes of waiting deliveries: per automation in order; per webhook by the next attempt, so that
 * a look reads few; and all by age, to give up the oldest.
 */
async function indexWaitingDeliveries(db: Kysely<unknown>): Promise<void> {
  const waiting = sql`where delivered_at is null and given_up_at is null`;
  await sql`
    create index deliveries_in_order
      on deliveries (organization, automation_id, webhook_namespace, webhook_name, sequence) ${waiting}
  `.execute(db);
  await sql`
    create index deliveries_of_webhook
      on deliveries (organization, webhook_namespace, webhook_name, next_attempt_at, sequence) ${waiting}
  `.execute(db);
  await sql`create index deliveries_waiting on deliveries (created_at) ${waiting}`.execute(db);
}
