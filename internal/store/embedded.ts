import { PGlite } from '@electric-sql/pglite';
import { Kysely, PGliteDialect } from 'kysely';
import type { Database, Tables } from './database.ts';

/**
 * Opens the embedded Postgres of standalone in a folder. Its one session runs statements in turn.
 */
export async function openEmbedded(folder: string): Promise<Database> {
  const pglite = await PGlite.create(folder);
  return new Kysely<Tables>({ dialect: new PGliteDialect({ pglite }) });
}
