/** The table `known_organizations`: organizations of the record. `silent`: without defaults. */
export interface KnownOrganizationsTable {
  organization: string;
  silent: boolean;
}

/** The table `scheduled_runs`: captured Jobs, and the times for which Kubernetes scheduled them. */
export interface ScheduledRunsTable {
  organization: string;
  automation_id: string;
  execution_id: string;
  /** Null for a Job that was made by hand. */
  scheduled_at: Date | null;
  recorded_at: Date;
}
