import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { migrateToLatest } from '../../internal/store/migrate.ts';
import { binary } from './postgres-server.ts';
import { openDatabase } from './store.ts';

/** The schema as it is committed, for people to read and for a test to compare. */
export const schemaFile = new URL('../../internal/store/schema.sql', import.meta.url);

/**
 * What pg_dump says of no interest or that differs between its versions: comments, settings, key
 * lines of psql.
 */
const noise = /^(--|SET |SELECT pg_catalog|\\)/;

/** From Postgres 18 on, NOT NULL has a name, which the dump of a partition says. */
const nameOfNotNull = / CONSTRAINT \w+(?= NOT NULL)/g;

/** Migrates an empty database and dumps its schema, the same from any release of Postgres. */
export async function dumpSchema(url: string): Promise<string> {
  const db = openDatabase(url);
  try {
    await migrateToLatest(db);
  } finally {
    await db.destroy();
  }
  const dump = await promisify(execFile)(await binary('pg_dump'), [
    '--schema-only',
    '--no-owner',
    '--no-privileges',
    url,
  ]);
  const lines = dump.stdout.split('\n').filter((line) => !noise.test(line));
  return `${lines
    .join('\n')
    .replaceAll(nameOfNotNull, '')
    .replaceAll(/\n{2,}/g, '\n\n')
    .trim()}\n`;
}
