import type { Generated } from 'kysely';

/** The table `access_log`: who looked at or exported the record of which organization. */
export interface AccessLogTable {
  organization: string;
  at: Date;
  id: Generated<string>;
  /** Issuer and subject of a person, or the name of a read token. */
  subject: string;
  name: string;
  action: 'looked' | 'exported';
}
