import { hash } from 'node:crypto';
import {
  maximumTokenLength,
  minimumTokenLength,
  type SecretRefusal,
  type SecretRefusalReason,
} from './secret-refusal.ts';
import { entriesOf, referenceOf, type SecretManifest, type SecretReference } from './secret-manifest.ts';

/** What is kept of a Secret: digests and refusals, not one token. */
export interface SecretDigests {
  readonly secret: SecretReference;
  readonly organization: string;
  /** Digest → the entry it came from. */
  readonly digests: ReadonlyMap<string, string>;
  readonly refusals: readonly SecretRefusal[];
}

/** All usable tokens, and all that was refused. Immutable: a change makes another set. */
export interface TokenSet {
  /** SHA-256 of a token, in lower-case hexadecimal → organization id. */
  readonly organizations: ReadonlyMap<string, string>;
  /** How many organizations have at least one usable token. */
  readonly organizationCount: number;
  readonly refusals: readonly SecretRefusal[];
}

/** The digest that tokens are kept and looked up by. */
export function digestOf(token: string): string {
  return hash('sha256', token, 'hex');
}

/** The token set of some Secrets, by the rules of the README's section on organization tokens. */
export function tokenSetOf(secrets: readonly SecretManifest[], organizationLabel: string): TokenSet {
  return mergeDigests(secrets.map((secret) => digestSecret(secret, organizationLabel)));
}

/**
 * Reads one Secret: `token…` entries hold a token each, `sha256-…` entries the digest of one.
 * Others are ignored.
 */
export function digestSecret(manifest: SecretManifest, organizationLabel: string): SecretDigests {
  const secret = referenceOf(manifest);
  const organization = manifest.metadata?.labels?.[organizationLabel];
  if (typeof organization !== 'string' || organization === '') return refusedWhole(secret, 'no-organization');

  const digests = new Map<string, string>();
  const refusals: SecretRefusal[] = [];
  for (const [entry, text] of entriesOf(manifest)) {
    const read = entry.startsWith('token') ? readToken : entry.startsWith('sha256-') ? readDigest : undefined;
    if (read === undefined) continue;
    const result = text === undefined ? refuse('not-base64') : read(text.trim());
    if ('digest' in result) digests.set(result.digest, entry);
    else refusals.push({ secret, entry, reason: result.reason });
  }
  if (digests.size === 0 && refusals.length === 0) return refusedWhole(secret, 'no-tokens');
  return { secret, organization, digests, refusals };
}

/**
 * Puts Secrets together. A token of two organizations is refused for both: nobody can say whose
 * events they are.
 */
export function mergeDigests(secrets: Iterable<SecretDigests>): TokenSet {
  const refusals: SecretRefusal[] = [];
  const holdersOf = new Map<string, SecretDigests[]>();
  for (const holder of secrets) {
    refusals.push(...holder.refusals);
    for (const digest of holder.digests.keys()) {
      const holders = holdersOf.get(digest);
      if (holders === undefined) holdersOf.set(digest, [holder]);
      else holders.push(holder);
    }
  }

  const organizations = new Map<string, string>();
  for (const [digest, holders] of holdersOf) {
    const [owner] = holders;
    if (owner === undefined) continue;
    if (holders.every(({ organization }) => organization === owner.organization)) {
      organizations.set(digest, owner.organization);
    } else {
      refusals.push(...sharedRefusals(digest, holders));
    }
  }
  return { organizations, organizationCount: new Set(organizations.values()).size, refusals };
}

/**
 * Names to every holder one Secret of another organization, the same one in any order of the
 * Secrets.
 */
function sharedRefusals(digest: string, holders: SecretDigests[]): SecretRefusal[] {
  const byName = holders.toSorted((a, b) => (a.secret.name < b.secret.name ? -1 : 1));
  return byName.map((holder) => ({
    secret: holder.secret,
    entry: holder.digests.get(digest),
    reason: 'shared',
    other: byName.find(({ organization }) => organization !== holder.organization)?.secret,
  }));
}

type Reading = { readonly digest: string } | { readonly reason: SecretRefusalReason };

function readToken(token: string): Reading {
  if (token === '') return refuse('empty');
  if (token.length < minimumTokenLength) return refuse('too-short');
  if (token.length > maximumTokenLength) return refuse('too-long');
  if (!/^[\x20-\x7e]+$/.test(token)) return refuse('not-ascii');
  return { digest: digestOf(token) };
}

function readDigest(text: string): Reading {
  return /^[0-9a-f]{64}$/i.test(text) ? { digest: text.toLowerCase() } : refuse('not-a-digest');
}

function refuse(reason: SecretRefusalReason): Reading {
  return { reason };
}

function refusedWhole(secret: SecretReference, reason: SecretRefusalReason): SecretDigests {
  return { secret, organization: '', digests: new Map(), refusals: [{ secret, entry: undefined, reason }] };
}
