import type { EventKind } from '../event/schema.ts';

/** The table `events`: one row an accepted event, partitioned by day of `created_at`. */
export interface EventsTable {
  organization: string;
  created_at: Date;
  id: string;
  automation_id: string;
  /** `automation_id` as the caller wrote it, where that is not its canonical lower-case form. */
  automation_as_sent: string | null;
  execution_id: string;
  kind: EventKind;
  description: string;
  error_id: string;
  error_description: string;
}
