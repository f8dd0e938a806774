import { PGlite } from '@electric-sql/pglite';
import { Kysely, PGliteDialect, type Driver } from 'kysely';
import type { Database, Tables } from './database.ts';

/**
 * Opens standalone's embedded Postgres in a folder. Its one session runs statements and
 * transactions in turn.
 */
export async function openEmbedded(folder: string): Promise<Database> {
  const pglite = await PGlite.create(folder);
  return new Kysely<Tables>({ dialect: new InTurn({ pglite }) });
}

/**
 * Lends the one connection to one caller at a time. Otherwise Kysely's driver would run other
 * callers' statements in the open transaction, and a rollback would lose them.
 */
class InTurn extends PGliteDialect {
  override createDriver(): Driver {
    const driver = super.createDriver();
    const acquire = driver.acquireConnection.bind(driver);
    const release = driver.releaseConnection.bind(driver);
    const waiting: (() => void)[] = [];
    let lent = false;
    driver.acquireConnection = async (options) => {
      if (lent) await new Promise<void>((resolve) => waiting.push(resolve));
      lent = true;
      return acquire(options);
    };
    driver.releaseConnection = async (connection) => {
      await release(connection);
      const next = waiting.shift();
      if (next === undefined) lent = false;
      else next();
    };
    return driver;
  }
}
