/** The table `scheduled_runs`: captured Jobs, and the times for which Kubernetes scheduled them. */
export interface ScheduledRunsTable {
  organization: string;
  automation_id: string;
  execution_id: string;
  /** Null for a Job that was made by hand. */
  scheduled_at: Date | null;
  recorded_at: Date;
}
