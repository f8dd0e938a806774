import { sql, type Kysely } from 'kysely';

/** The approvals of people for retention that would drop many partitions at once. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table retention_approvals (
      before date not null,
      approved_at timestamptz(3) not null default now(),
      approved_by text not null default session_user
    )
  `.execute(db);
}
