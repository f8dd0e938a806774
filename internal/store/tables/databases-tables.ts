import type { Generated } from 'kysely';

/**
 * The table `organization_databases` of the first database: where each organization is. An
 * organization without a row is in the first database.
 */
export interface OrganizationDatabasesTable {
  organization: string;
  database: string;
  since: Generated<Date>;
  /** A snapshot of that database from when the organization arrived: streams continue after it. */
  stream_since: string | null;
}

/**
 * The table `moved_organizations`: those that are leaving this database, have left it, or are
 * arriving.
 */
export interface MovedOrganizationsTable {
  organization: string;
  /** The other database. */
  target: string;
  /** True while this database takes no events of the organization. */
  closed: Generated<boolean>;
  /** True from the start of a move to its end, in both databases: no row changes its table. */
  under_way: Generated<boolean>;
  /** True once the target has everything. */
  copied: Generated<boolean>;
}
