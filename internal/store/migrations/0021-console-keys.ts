import { sql, type Kysely } from 'kysely';

/**
 * The keys with which consoles seal what they hand out: of login cookies and of stream ids. All
 * consoles of a database share them. `gen_random_uuid` reads the system's secure source, and four
 * of them hold 488 random bits.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table console_keys (
      name text primary key,
      key bytea not null
    )
  `.execute(db);
  await sql`
    insert into console_keys (name, key)
    select name, sha256(concat(gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid())::bytea)
    from unnest(array['login', 'stream']) as name
  `.execute(db);
}
