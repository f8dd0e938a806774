import { digestSecret } from './token-set.ts';
import type { SecretManifest } from '../secret.ts';
import type { Scope } from './token-entry.ts';

/** A token in its Secret. */
export interface LiveToken {
  readonly secret: string;
  readonly entry: string;
  readonly digest: string;
  readonly scope: Scope;
}

/** A change of the tokens of an organization. */
export interface TokenChange {
  /** Entry → digest, for entries that {@link ownEntry} names. */
  readonly set?: Readonly<Record<string, string>>;
  readonly remove?: readonly LiveToken[];
}

/** Writes tokens to where ingest reads them. One process does so at a time. */
export interface TokenWriter {
  /** The tokens of an organization, whoever wrote them. */
  read(organization: string): Promise<LiveToken[]>;
  /** @throws an error for people, which quotes no token. */
  write(organization: string, change: TokenChange): Promise<void>;
  /** Why tokens cannot be written now: one sentence for people; undefined when they can. */
  problem(): Promise<string | undefined>;
}

/** The tokens of a Secret; none if it belongs to another organization. */
export function liveTokensOf(manifest: SecretManifest, label: string, organization: string): LiveToken[] {
  return digestSecret(manifest, label).tokens.flatMap(({ secret, entry, digest, scope, ...token }) =>
    token.organization === organization ? { secret: secret.name, entry, digest, scope } : [],
  );
}

const prefixes = {
  write: 'sha256-console-',
  read: 'read-sha256-console-',
  ping: 'ping-sha256-console-',
  manage: 'manage-sha256-console-',
} as const;

/** The entry of a token that was made in the console. Its name says when the token expires. */
export function ownEntry({ scope, digest }: Pick<LiveToken, 'scope' | 'digest'>, expiresAt?: Date): string {
  const until = expiresAt === undefined ? '' : `-until-${Math.floor(expiresAt.getTime() / 1_000)}`;
  return `${prefixes[scope]}${digest.slice(0, 12)}${until}`;
}

const own = /^(?:read-|ping-|manage-)?sha256-console-[0-9a-f]{12}(?:-until-(\d{1,12}))?$/;

/** True for an entry that {@link ownEntry} named. */
export function isOwn({ entry }: Pick<LiveToken, 'entry'>): boolean {
  return own.test(entry);
}

/** True for a token whose entry names an earlier time as its end. */
export function hasExpired({ entry }: Pick<LiveToken, 'entry'>, now: Date): boolean {
  const until = own.exec(entry)?.[1];
  return until !== undefined && Number(until) * 1_000 <= now.getTime();
}

/** Puts a token in force. @throws as {@link TokenWriter.write} */
export function issueToken(writer: TokenWriter, organization: string, token: Pick<LiveToken, 'scope' | 'digest'>) {
  return writer.write(organization, { set: { [ownEntry(token)]: token.digest } });
}

/**
 * Revokes a token, wherever it is. Resolves with its scope; undefined if there is no such token.
 */
export async function revokeToken(
  writer: TokenWriter,
  organization: string,
  digest: string,
): Promise<Scope | undefined> {
  const found = (await writer.read(organization)).filter((token) => token.digest === digest);
  if (found.length > 0) await writer.write(organization, { remove: found });
  return found[0]?.scope;
}

/** Lets a token expire at a time. Resolves with its scope; undefined if there is no such token. */
export async function expireToken(
  writer: TokenWriter,
  organization: string,
  { digest, at }: { digest: string; at: Date },
): Promise<Scope | undefined> {
  const found = (await writer.read(organization)).filter((token) => token.digest === digest);
  const [first] = found;
  if (first === undefined) return undefined;
  const entry = ownEntry(first, at);
  await writer.write(organization, { set: { [entry]: digest }, remove: found.filter((one) => one.entry !== entry) });
  return first.scope;
}

/** Removes the tokens that have expired. */
export async function removeExpired(writer: TokenWriter, organization: string, now: Date): Promise<void> {
  const expired = (await writer.read(organization)).filter((token) => hasExpired(token, now));
  if (expired.length > 0) await writer.write(organization, { remove: expired });
}
