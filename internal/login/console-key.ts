import type { ConsoleKeysTable } from '../store/tables/console-keys-table.ts';
import type { Database } from '../store/database.ts';
import { serveQuery } from './serve-query.ts';

/**
 * Returns a function that reads a key shared by all consoles, once. It throws a `RequestError`
 * while Postgres cannot serve it.
 */
export function consoleKey(db: Database, name: ConsoleKeysTable['name']): () => Promise<Uint8Array> {
  let known: Uint8Array | undefined;
  return async () => {
    known ??= await serveQuery('The keys of the console cannot be read now.', async () => {
      const row = await db.selectFrom('console_keys').select('key').where('name', '=', name).executeTakeFirstOrThrow();
      return row.key;
    });
    return known;
  };
}
