import { sql, type Kysely } from 'kysely';
import { showToReaders } from './show-to-readers.ts';

/**
 * What owners do about alerts and executions. Only rows are added: a mute ends early with an act of
 * its own. `about`: the alert that is acknowledged, or the mute that ends. `recorded_at`: when a
 * worker recorded the act, with the events that it makes. `mac`: that of the console's key, see
 * `internal/store/acts/act-mac.ts`. `salt` and `note_digest` are to the note what the columns of
 * `events` are to its texts.
 */
export async function createActs(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table acts (
      organization text collate "C" not null,
      id uuid not null,
      kind text not null check (kind in ('mute', 'unmute', 'acknowledge', 'close', 'note')),
      automation_id uuid,
      execution_id text collate "C",
      about uuid,
      note text not null,
      details jsonb not null default '{}',
      until_at timestamptz(3),
      made_by text not null,
      made_at timestamptz(3) not null default now(),
      recorded_at timestamptz(3),
      mac bytea,
      salt bytea,
      note_digest bytea,
      primary key (organization, id)
    )
  `.execute(db);
  await sql`create index acts_open on acts (organization, made_at) where recorded_at is null`.execute(db);
  await sql`create index acts_mutes on acts (organization, made_at) where kind in ('mute', 'unmute')`.execute(db);
  await sql`
    create index acts_of_automation on acts (organization, automation_id, made_at) where automation_id is not null
  `.execute(db);
  await sql`create index acts_about on acts (organization, about) where about is not null`.execute(db);
  await showToReaders(db, 'acts');
}
