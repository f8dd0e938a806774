import type { OptionalColumn } from '../event/fields.ts';
import type { EventKind } from '../event/schema.ts';

/** The table `events`: one row an accepted event, partitioned by day of `created_at`. */
export interface EventsTable extends Record<OptionalColumn, string> {
  organization: string;
  created_at: Date;
  id: string;
  automation_id: string;
  /** `automation_id` as the caller wrote it, where that is not its canonical lower-case form. */
  automation_as_sent: string | null;
  execution_id: string;
  kind: EventKind;
}
