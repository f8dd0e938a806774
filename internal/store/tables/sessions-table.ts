import type { Generated } from 'kysely';

/** The table `sessions`: who is logged in to the web console. */
export interface SessionsTable {
  /** SHA-256 of the session's id, which only the browser has. */
  digest: Uint8Array;
  /** Issuer and subject of a person, or the name of a read token. */
  subject: string;
  /** A name for people. */
  name: string;
  /** The groups of a person that lead to organizations. */
  groups: string[];
  /** SHA-256 of the read token that opened the session, in hexadecimal. */
  token_digest: string | null;
  /** The one organization of a session from a one-time link. */
  organization: string | null;
  /** The id token of the login, sealed with the session's id. */
  id_token: string | null;
  created_at: Generated<Date>;
  seen_at: Generated<Date>;
  expires_at: Date;
}
