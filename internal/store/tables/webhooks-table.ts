import type { ColumnType } from 'kysely';

/** The table `webhooks`: the receivers of each organization. It holds no secret value. */
export interface WebhooksTable {
  organization: string;
  namespace: string;
  name: string;
  url: string;
  secret_ref: string;
  /** Kinds of events, empty for all. */
  kinds: string[];
  filter: ColumnType<unknown, string, string>;
  allow_private: boolean;
  failing_since: Date | null;
  /** Until then the circuit is open and nothing is sent. */
  open_until: Date | null;
}
