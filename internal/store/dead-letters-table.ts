import type { Generated } from 'kysely';

/** The table `dead_letters`: events that Postgres refused for what they hold. `event` is the event as JSON, in UTF-8. */
export interface DeadLettersTable {
  organization: string;
  id: string;
  created_at: Date;
  dead_at: Generated<Date>;
  reason: string;
  event: Uint8Array;
}
