/**
 * The table `running_executions`: one row per execution whose state is running. Triggers on
 * `executions` keep it (migration 0003).
 */
export interface RunningExecutionsTable {
  organization: string;
  automation_id: string;
  execution_id: string;
  first_event_at: Date;
  /** Since when it counts as lost, until an event comes; null while it does not. */
  lost_at: Date | null;
}
