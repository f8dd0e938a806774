import { sql, type Kysely } from 'kysely';

/**
 * The access log only grows, for the owner of the tables too: who wants to change it has to drop or
 * disable a trigger first, which Postgres logs as a change of the schema.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function refuse_change() returns trigger language plpgsql as $$
    begin
      raise exception 'the table % only grows', tg_table_name using errcode = 'insufficient_privilege';
    end
    $$
  `.execute(db);
  await sql`
    create trigger access_log_only_grows before update or delete or truncate on access_log
    for each statement execute function refuse_change()
  `.execute(db);
}
