import type { ColumnType } from 'kysely';

/** What a channel speaks; `internal/expectation` has the list. */
type ChannelType = 'webhook' | 'email' | 'slack' | 'teams' | 'googlechat' | 'discord' | 'ntfy';

/** The table `channels`: the receivers of each organization. It holds no secret value. */
export interface ChannelsTable {
  organization: string;
  namespace: string;
  name: string;
  type: ChannelType;
  /** Empty unless it is a webhook: the address of a chat is a secret. */
  url: string;
  /** The recipients of mails. */
  to: string[];
  secret_ref: string;
  /** Kinds of events, empty for all. */
  kinds: string[];
  filter: ColumnType<unknown, string, string>;
  /** Hours in which messages wait; null for none. */
  quiet_hours: ColumnType<{ from: string; to: string; timeZone: string } | null, string | null | undefined, string>;
  allow_private: boolean;
  failing_since: Date | null;
  /** Until then the circuit is open and nothing is sent. */
  open_until: Date | null;
}
