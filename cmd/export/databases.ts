import { namedUrls } from '../../internal/config/named-urls.ts';
import type { Config } from '../../internal/config/read.ts';
import { firstDatabase, readPlaces } from '../../internal/store/organizations/organization-map.ts';
import { openPostgres, type Database } from '../../internal/store/database.ts';

/** Where the record is. */
export const exportDatabaseSettings = ['DATABASE_URL', 'DATABASE_URLS'] as const;

/** Longest duration of a statement, in ms: each reads one page, or one slice of a day. */
const statementTimeout = 60_000;

/** A database that is exported. */
export interface Source {
  /** Its name in `DATABASE_URLS`; `first` for `DATABASE_URL`. */
  name: string;
  db: Database;
  /** True for the organizations that are exported from it. */
  has: (organization: string) => boolean;
}

/** The databases that are exported; the end closes their connections. */
export interface Sources extends AsyncDisposable {
  all: readonly Source[];
  sourceOf: (organization: string) => Source;
}

/**
 * Opens them. After a move, an organization is exported from the database where it is, and not from
 * the rows that it has left behind.
 * @throws when an organization is in a database that `DATABASE_URLS` does not name.
 */
export async function openSources(config: Config<(typeof exportDatabaseSettings)[number]>): Promise<Sources> {
  await using opened = new AsyncDisposableStack();
  const first = opened.use(openDatabase(config.DATABASE_URL));
  const others = namedUrls(config.DATABASE_URLS);
  const places = await readPlaces(first);
  const nameOf = (organization: string): string => places.get(organization)?.database ?? firstDatabase;
  const sources = new Map<string, Source>();
  const add = (name: string, db: Database) => sources.set(name, { name, db, has: (id) => nameOf(id) === name });
  add(firstDatabase, first);
  for (const [name, url] of others) add(name, opened.use(openDatabase(url)));
  const sourceOf = (organization: string): Source => {
    const name = nameOf(organization);
    const source = sources.get(name);
    if (source === undefined) throw new Error(`DATABASE_URLS lacks the database ${name}, where ${organization} is`);
    return source;
  };
  for (const organization of places.keys()) sourceOf(organization);
  const closing = opened.move();
  return {
    all: [...sources.values()],
    sourceOf,
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

/** One connection holds the lock of the export. */
function openDatabase(url: string): Database {
  const ignore = (): void => undefined;
  return openPostgres({
    url,
    maxConnections: 3,
    applicationName: 'runledger-export',
    statementTimeout,
    preparesStatements: false,
    onIdleError: ignore,
    onNotDurable: ignore,
  });
}
