import { sql, type Kysely } from 'kysely';

/**
 * The Jobs of Kubernetes that the controller has seen, and which of their events are recorded. So
 * each is recorded once, also one that is deleted while no controller runs.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table captured_jobs (
      uid text primary key,
      organization text not null,
      automation_id uuid not null,
      namespace text not null,
      name text not null,
      started_at timestamptz(3),
      recorded text[] not null default '{}',
      gone_at timestamptz(3)
    )
  `.execute(db);
}
