import type { ConsoleKeysTable } from '../store/tables/console-keys-table.ts';
import type { Database } from '../store/database.ts';
import { serveQuery } from './serve-query.ts';

/**
 * Reads a key that all consoles share, once. Each call throws a `RequestError` while Postgres
 * cannot serve it.
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
