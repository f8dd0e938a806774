import type { Generated } from 'kysely';

/** The table `access_log`: who looked at or exported which organization, and who could not. */
export interface AccessLogTable {
  /** Empty where nobody has logged in. */
  organization: string;
  at: Date;
  id: Generated<string>;
  /** Issuer and subject of a person, or the name of a read token. */
  subject: string;
  name: string;
  action:
    | 'looked'
    | 'exported'
    | 'tested'
    | 'logged out'
    | 'refused'
    | 'issued'
    | 'rotated'
    | 'revoked'
    | 'named'
    | 'muted'
    | 'unmuted'
    | 'acknowledged'
    | 'closed'
    | 'noted';
  /** What an act was about, such as the name of a token. */
  detail: Generated<string>;
  /** The caller's address, as limits count it. */
  address: Generated<string>;
  /** Requests that the row stands for. */
  requests: Generated<number>;
}
