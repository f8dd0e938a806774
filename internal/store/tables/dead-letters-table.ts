import type { Generated } from 'kysely';

/**
 * The table `dead_letters`: events whose data Postgres rejected. `event` is the event as JSON, in
 * UTF-8.
 */
export interface DeadLettersTable {
  organization: string;
  /** The event's id, as far as text can hold it: the id may be the rejected value. */
  id: string;
  created_at: Date;
  dead_at: Generated<Date>;
  reason: string;
  event: Uint8Array;
}
