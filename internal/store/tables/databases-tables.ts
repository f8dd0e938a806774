import type { ColumnType, Generated } from 'kysely';

/**
 * The table `organization_databases` of the first database: where each organization is. One without
 * a row is in the first database.
 */
export interface OrganizationDatabasesTable {
  organization: string;
  database: string;
  since: Generated<Date>;
  /** A snapshot of that database from when the organization arrived: streams continue after it. */
  stream_since: string | null;
}

/** The table `moved_organizations`: those that leave this database, or have left it. */
export interface MovedOrganizationsTable {
  organization: string;
  target: string;
  /** True once this database takes no more events of it. */
  closed: Generated<boolean>;
  /** Up to where rows are copied, written as JSON. */
  progress: ColumnType<Record<string, string>, string | undefined, string>;
}

/** The table `moving_events`: keys of events that are stored while an organization is copied. */
export interface MovingEventsTable {
  organization: string;
  created_at: Date;
  id: string;
  automation_id: string;
  execution_id: string;
}
