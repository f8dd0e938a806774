import type { ColumnType, Generated } from 'kysely';

/** The table `deliveries`: the outbox of channels, and the history of what was sent. */
export interface DeliveriesTable {
  /** Also the `webhook-id`, the same at each attempt. */
  id: string;
  sequence: Generated<string>;
  organization: string;
  automation_id: string;
  channel_namespace: string;
  channel_name: string;
  /** The CloudEvent. */
  event: ColumnType<Record<string, unknown>, string, string>;
  created_at: Generated<Date>;
  attempts: Generated<number>;
  next_attempt_at: Generated<Date>;
  last_status: number | null;
  last_error: string | null;
  delivered_at: Date | null;
  given_up_at: Date | null;
}
