import type { Database } from '../../internal/store/database.ts';
import type { NamedDatabase } from '../../internal/store/organizations/move/moved-tables.ts';
import type { Authentication } from '../../internal/cluster/tokens/token-source.ts';
import { migratedDatabase, type TestDatabase } from './store.ts';

export interface TwoDatabases extends AsyncDisposable {
  first: TestDatabase;
  eu: TestDatabase;
  /** For {@link startWorker} and {@link startConsole}. */
  settings: { DATABASE_URL: string; DATABASE_URLS: string };
  byName: ReadonlyMap<string, Database>;
  /** For a move. */
  named: ReadonlyMap<string, NamedDatabase>;
}

/** The first database, and one with the name `eu`. */
export async function twoDatabases(): Promise<TwoDatabases> {
  const [first, eu] = [await migratedDatabase(), await migratedDatabase()];
  const named = { first, eu };
  return {
    first,
    eu,
    settings: { DATABASE_URL: first.url, DATABASE_URLS: `eu=${eu.url}` },
    byName: new Map([
      ['first', first.db],
      ['eu', eu.db],
    ]),
    named: new Map(Object.entries(named).map(([name, { db, url }]) => [name, { name, db, url }])),
    async [Symbol.asyncDispose]() {
      await first[Symbol.asyncDispose]();
      await eu[Symbol.asyncDispose]();
    },
  };
}

/** Says in the map where an organization is. */
export async function place(first: Database, organization: string, database: string): Promise<void> {
  await first.insertInto('organization_databases').values({ organization, database, stream_since: null }).execute();
}

/** The organization is the token. */
export function tokenNamesOrganization(token: string): Authentication {
  return { status: 'known', organization: token, scope: 'write', tokenId: token };
}
