/**
 * The table `running_executions`: one row per execution whose state is running. Triggers on
 * `executions` maintain it.
 */
export interface RunningExecutionsTable {
  organization: string;
  automation_id: string;
  execution_id: string;
  first_event_at: Date;
  /** Since when it counts as lost; null while it does not. The next event ends that. */
  lost_at: Date | null;
}
