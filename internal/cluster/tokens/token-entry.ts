import { hash } from 'node:crypto';
import { maximumTokenLength, minimumTokenLength, type SecretRefusalReason } from './secret-refusal.ts';

/**
 * The rights of a token: `write` records events, `read` reads the record, `manage` changes tokens
 * and declarations, and `ping` is a ping key, valid only in addresses under `/ping/`. No token has
 * two of them.
 */
export type Scope = 'write' | 'read' | 'ping' | 'manage';

export type EntryResult = { readonly digest: string; readonly scope: Scope } | { readonly reason: SecretRefusalReason };

/**
 * Returns the digest by which Runledger stores and finds a token: SHA-256 in lower-case
 * hexadecimal.
 */
export function digestOf(token: string): string {
  return hash('sha256', token, 'hex');
}

/** The first 12 digits of a digest, which name its token in logs, in limits and to people. */
export function fingerprintOf(digest: string): string {
  return digest.slice(0, 12);
}

/** The kinds of entries. The first matching prefix decides. */
const kinds = [
  { prefix: 'token', scope: 'write', read: readToken },
  { prefix: 'sha256-', scope: 'write', read: readDigest },
  { prefix: 'read-sha256-', scope: 'read', read: readDigest },
  { prefix: 'read-', scope: 'read', read: readToken },
  { prefix: 'ping-sha256-', scope: 'ping', read: readDigest },
  { prefix: 'ping-', scope: 'ping', read: readToken },
  { prefix: 'manage-sha256-', scope: 'manage', read: readDigest },
  { prefix: 'manage-', scope: 'manage', read: readToken },
] as const;

/**
 * Reads one entry of a Secret; `text` is undefined if its value is not base64. Returns undefined
 * for an entry of another kind: a later release may know it.
 */
export function readEntry(entry: string, text: string | undefined): EntryResult | undefined {
  const kind = kinds.find(({ prefix }) => entry.startsWith(prefix));
  if (kind === undefined) return undefined;
  if (text === undefined) return { reason: 'not-base64' };
  const result = kind.read(text.trim());
  return typeof result === 'string' ? { reason: result } : { ...result, scope: kind.scope };
}

type Digested = { readonly digest: string } | SecretRefusalReason;

/** Why Runledger accepts no such token; undefined for one that it accepts. */
export function faultOfToken(token: string): 'empty' | 'too-short' | 'too-long' | 'not-ascii' | undefined {
  if (token === '') return 'empty';
  if (token.length < minimumTokenLength) return 'too-short';
  if (token.length > maximumTokenLength) return 'too-long';
  return /^[\x20-\x7e]+$/.test(token) ? undefined : 'not-ascii';
}

function readToken(token: string): Digested {
  return faultOfToken(token) ?? { digest: digestOf(token) };
}

/** The digest of the empty text would admit requests without a token. */
const digestOfNothing = digestOf('');

function readDigest(text: string): Digested {
  if (!/^[0-9a-f]{64}$/i.test(text)) return 'not-a-digest';
  const digest = text.toLowerCase();
  return digest === digestOfNothing ? 'empty' : { digest };
}
