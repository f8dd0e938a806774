import { sql, type Kysely } from 'kysely';

/**
 * Who erased which events, and why (ARCHITECTURE.md, "The log"). A row has the ids of its events,
 * 16 bytes each, and nothing else of them.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table erasures (
      id uuid primary key,
      organization text collate "C" not null,
      erased_at timestamptz(3) not null,
      erased_by text not null,
      reason text not null,
      scope text not null check (scope in ('organization', 'automation', 'execution', 'text')),
      automation_id uuid,
      event_ids bytea not null
    )
  `.execute(db);
  await sql`alter table erasures alter column event_ids set storage external`.execute(db);
  await sql`create index erasures_of_organization on erasures (organization, id)`.execute(db);
}
