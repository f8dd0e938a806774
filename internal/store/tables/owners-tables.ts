import type { ColumnType, Generated } from 'kysely';

/** The kinds of tokens that owners make. */
export type TokenKind = 'write' | 'read' | 'ping' | 'manage';

/** The table `tokens`: what is known of a token besides its Secret. */
export interface TokensTable {
  organization: string;
  /** SHA-256 of the token, in hexadecimal. */
  digest: string;
  name: string;
  kind: TokenKind;
  /** The last characters of the token. */
  last_four: string;
  made_by: string;
  made_at: Generated<Date>;
  /** When a rotated token stops being in force. */
  expires_at: Date | null;
}

/** The table `token_uses`: the day on which a token was last used, by the id of the token. */
export interface TokenUsesTable {
  token_id: string;
  used_on: string;
}

/** The table `token_requests`: what an owner asks the controller to do. */
export interface TokenRequestsTable {
  id: string;
  organization: string;
  act: 'issue' | 'expire' | 'revoke';
  digest: string;
  name: Generated<string>;
  kind: Generated<TokenKind>;
  last_four: Generated<string>;
  /** Only for `expire`. */
  expires_at: Date | null;
  /** Of `sealProof`; null once the controller has answered the request. */
  proof: string | null;
  requested_at: Generated<Date>;
  done_at: Date | null;
  /** Why it was refused; or, before `done_at`, why it is still waiting. */
  error: string | null;
}

/** The table `token_keeper`: one row, the controller that acts on requests. */
export interface TokenKeeperTable {
  id: boolean;
  holder: string | null;
  until: Date | null;
  /** Why tokens cannot be written. */
  problem: string | null;
  /** A JWK: seals the proofs of requests for this controller. */
  public_key: string | null;
}

/** The table `console_automations`: what owners declared in the console. */
export interface ConsoleAutomationsTable {
  organization: string;
  automation_id: string;
  /** The `spec` of an `Automation`, after `readAutomation` has accepted it. */
  spec: unknown;
  /** Another number after each change. */
  generation: Generated<string>;
}

/** The table `console_channels`: the channels that owners made in the console. */
export interface ConsoleChannelsTable {
  organization: string;
  name: string;
  /** The `spec` of a `Channel`, after `readChannel` has accepted it. */
  spec: unknown;
  /** The address of a chat, encrypted for the controller. */
  sealed: string | null;
  generation: Generated<string>;
}

/** The table `channel_keys`: one row, the public key of the controller. */
export interface ChannelKeysTable {
  id: boolean;
  public_key: ColumnType<object, string, string>;
}
