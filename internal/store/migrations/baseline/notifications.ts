import { sql, type Kysely } from 'kysely';
import { showToReaders } from './show-to-readers.ts';

/** Channels, and their outbox, which is also its history. */
export async function createNotifications(db: Kysely<unknown>): Promise<void> {
  await createChannels(db);
  await createDeliveries(db);
  await showToReaders(db, 'channels', 'deliveries');
}

async function createChannels(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table channels (
      organization text collate "C" not null,
      namespace text not null,
      name text not null,
      type text not null,
      url text not null,
      "to" text[] not null,
      secret_ref text not null,
      kinds text[] not null,
      filter jsonb not null,
      quiet_hours jsonb,
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
      channel_namespace text not null,
      channel_name text not null,
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
 * Indexes of waiting deliveries: per automation in order; per channel by the next attempt, so that
 * a look reads few; all by age, to give up the oldest; and tests of Alertmanagers.
 */
async function indexWaitingDeliveries(db: Kysely<unknown>): Promise<void> {
  const waiting = sql`where delivered_at is null and given_up_at is null`;
  await sql`
    create index deliveries_in_order
      on deliveries (organization, automation_id, channel_namespace, channel_name, sequence) ${waiting}
  `.execute(db);
  await sql`
    create index deliveries_of_channel
      on deliveries (organization, channel_namespace, channel_name, next_attempt_at, sequence) ${waiting}
  `.execute(db);
  await sql`create index deliveries_waiting on deliveries (created_at) ${waiting}`.execute(db);
  await sql`
    create index deliveries_to_alertmanager on deliveries (id) ${waiting} and channel_namespace = 'runledger.alertmanager'
  `.execute(db);
}
