import type { Config } from '../../internal/config/read.ts';
import { firstDatabase, OrganizationMap } from '../../internal/store/organizations/organization-map.ts';
import { Residents } from '../../internal/store/organizations/residents.ts';
import type { Database } from '../../internal/store/database.ts';
import type { Logger } from '../../internal/kit/telemetry/logger.ts';
import { openDatabase, openOtherDatabases, type DatabaseUse } from '../../internal/wiring/databases.ts';

/** The next tick repeats a statement that takes longer. */
export const controllerDatabase: DatabaseUse = {
  process: 'controller',
  connections: 5,
  statementTimeout: 30_000,
  // Its statements are rare, and Postgres should plan each one for its values.
  preparesStatements: false,
};

/** A database among those of a controller. */
export interface ControlledDatabase {
  /** Undefined for the only one. */
  name: string | undefined;
  db: Database;
  /** Its organizations, if there are several databases. */
  residents: Residents | undefined;
}

/** The databases that a controller ticks in. */
export interface ControllerDatabases {
  /** The first one first. */
  all: readonly [ControlledDatabase, ...ControlledDatabase[]];
  /** Undefined with one database. */
  map: OrganizationMap | undefined;
  /** The known database of an organization; undefined for the first one. */
  otherOf: (organization: string) => Database | undefined;
  close(): Promise<void>;
}

/** Opens the databases of a controller, which connect on demand. */
export function openControllerDatabases(
  config: Config<'DATABASE_URL' | 'DATABASE_URLS'>,
  logger: Logger,
): ControllerDatabases {
  const db = openDatabase(config.DATABASE_URL, controllerDatabase, logger);
  const byName = openOtherDatabases(config.DATABASE_URLS, controllerDatabase, logger);
  if (byName.size === 0) {
    const all = [{ name: undefined, db, residents: undefined }] as const;
    return { all, map: undefined, otherOf: () => undefined, close: () => db.destroy() };
  }
  const others = Array.from(byName, ([name, other]) => ({ name, db: other, residents: new Residents(name, db) }));
  const map = new OrganizationMap(db, logger);
  return {
    all: [{ name: firstDatabase, db, residents: new Residents(firstDatabase, db) }, ...others],
    map,
    otherOf: (organization) => (map.isKnown ? byName.get(map.placeOf(organization).database) : undefined),
    close: async () => {
      await Promise.all([db, ...byName.values()].map((one) => one.destroy()));
    },
  };
}
