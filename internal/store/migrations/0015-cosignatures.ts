import { sql, type Kysely } from 'kysely';

/** Which witnesses have cosigned a checkpoint. Their lines are in `note`. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table log_checkpoints add column cosigned_by text[] not null default '{}'`.execute(db);
}
