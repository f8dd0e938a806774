import { isOrganization } from '../../event/stored-text.ts';
import { referenceOf, type ObjectReference } from '../object.ts';
import type { SecretRefusal, SecretRefusalReason } from './secret-refusal.ts';
import { entriesOf, type SecretManifest } from '../secret.ts';
import { fingerprintOf, readEntry, type Scope } from './token-entry.ts';

/** One usable entry of a Secret. Holds the digest of the token, never the token. */
export interface SecretToken {
  readonly digest: string;
  readonly scope: Scope;
  readonly organization: string;
  readonly secret: ObjectReference;
  readonly entry: string;
  /** From the Secret's annotation. */
  readonly rate?: number | undefined;
}

/** The stored parts of a Secret: digests and refusals, no tokens. */
export interface SecretDigests {
  readonly secret: ObjectReference;
  readonly tokens: readonly SecretToken[];
  readonly refusals: readonly SecretRefusal[];
}

/** The owner and the scope of a token. */
export interface KnownToken {
  readonly status: 'known';
  readonly organization: string;
  readonly scope: Scope;
  /** The fingerprint of the token. */
  readonly tokenId: string;
  /** Events a second of the organization, instead of the common rate; 0 for no limit. */
  readonly rate?: number | undefined;
}

/** All usable tokens and all refusals. Immutable: a change creates a new set. */
export interface TokenSet {
  /** Digest of a token → its owner. */
  readonly tokens: ReadonlyMap<string, KnownToken>;
  /** The organizations with at least one usable token, in order. */
  readonly organizations: readonly string[];
  readonly refusals: readonly SecretRefusal[];
}

/**
 * Returns the token set of Secrets, by the rules of docs/operate/tokens.md.
 */
export function tokenSetOf(secrets: readonly SecretManifest[], organizationLabel: string): TokenSet {
  return mergeDigests(secrets.map((secret) => digestSecret(secret, organizationLabel)));
}

/** Annotation of a Secret: events a second that its organization may send to each pod. */
export const rateAnnotation = 'runledger.dev/organization-rate';

/** Annotation of a Secret that owners manage in the console. */
export const managedAnnotation = 'runledger.dev/managed-by';

/** Reads one Secret. Ignores entries that hold no tokens. */
export function digestSecret(manifest: SecretManifest, organizationLabel: string): SecretDigests {
  const secret = referenceOf(manifest);
  const organization = manifest.metadata?.labels?.[organizationLabel];
  if (typeof organization !== 'string' || organization === '') return refusedWhole(secret, 'no-organization');
  if (!isOrganization(organization)) return refusedWhole(secret, 'not-an-organization');

  const tokens: SecretToken[] = [];
  const refusals: SecretRefusal[] = [];
  const rate = rateOf(manifest);
  for (const [entry, text] of entriesOf(manifest)) {
    const result = readEntry(entry, text);
    if (result === undefined) continue;
    if ('digest' in result) tokens.push({ ...result, organization, secret, entry, rate });
    else refusals.push({ secret, entry, reason: result.reason });
  }
  const isEmpty = tokens.length === 0 && refusals.length === 0;
  // Owners may revoke all tokens of a Secret.
  if (isEmpty && manifest.metadata?.annotations?.[managedAnnotation] === undefined) {
    return refusedWhole(secret, 'no-tokens');
  }
  if (Number.isNaN(rate)) refusals.push({ secret, entry: rateAnnotation, reason: 'not-a-rate' });
  return { secret, tokens, refusals };
}

/** NaN if the annotation is no rate. */
function rateOf({ metadata }: SecretManifest): number | undefined {
  const text = metadata?.annotations?.[rateAnnotation];
  if (text === undefined) return undefined;
  return typeof text === 'string' && /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
}

/**
 * Merges Secrets. A token of two organizations is refused for both, since its events could belong
 * to either. A token with two scopes is refused for both.
 */
export function mergeDigests(secrets: Iterable<SecretDigests>): TokenSet {
  const all = [...secrets];
  const rates = ratesOf(all.flatMap((secret) => secret.tokens));
  const holdersOf = Map.groupBy(
    all.flatMap(({ tokens }) => tokens),
    ({ digest }) => digest,
  );
  const tokens = new Map<string, KnownToken>();
  const refusals = all.flatMap((secret) => secret.refusals);
  for (const [digest, holders] of holdersOf) {
    const [owner] = holders;
    if (owner === undefined) continue;
    const conflict = conflictOf(holders, owner);
    if (conflict === undefined) tokens.set(digest, knownToken(owner, rates.get(owner.organization)));
    else refusals.push(...refuseAll(holders, conflict));
  }
  const organizations = new Set(Array.from(tokens.values(), ({ organization }) => organization));
  return { tokens, organizations: [...organizations].sort(), refusals };
}

function knownToken({ digest, organization, scope }: SecretToken, rate: number | undefined): KnownToken {
  return { status: 'known', organization, scope, tokenId: fingerprintOf(digest), ...(rate !== undefined && { rate }) };
}

/** The highest rate among each organization's Secrets, if any; no limit is the highest. */
function ratesOf(tokens: readonly SecretToken[]): Map<string, number> {
  const rates = new Map<string, number>();
  for (const { organization, rate } of tokens) {
    if (rate === undefined || Number.isNaN(rate)) continue;
    const other = rates.get(organization);
    rates.set(organization, rate === 0 || other === 0 ? 0 : Math.max(rate, other ?? 0));
  }
  return rates;
}

/** How the Secrets of one token differ, and the reason to refuse the token. */
type Conflict = { readonly field: 'organization' | 'scope'; readonly reason: SecretRefusalReason };

function conflictOf(holders: readonly SecretToken[], owner: SecretToken): Conflict | undefined {
  const differ = (field: Conflict['field']): boolean => holders.some((holder) => holder[field] !== owner[field]);
  if (differ('organization')) return { field: 'organization', reason: 'shared' };
  if (differ('scope')) return { field: 'scope', reason: 'both-scopes' };
  return undefined;
}

/**
 * Refuses the token in each Secret, and names one Secret that differs: the same one whatever the
 * order of Secrets.
 */
function refuseAll(holders: readonly SecretToken[], { field, reason }: Conflict): SecretRefusal[] {
  const byName = holders.toSorted((a, b) => (a.secret.name < b.secret.name ? -1 : 1));
  return byName.map((holder) => {
    const { secret, entry } = holder;
    const other = byName.find((one) => one[field] !== holder[field] && one.secret !== secret)?.secret;
    return { secret, entry, reason, other };
  });
}

function refusedWhole(secret: ObjectReference, reason: SecretRefusalReason): SecretDigests {
  return { secret, tokens: [], refusals: [{ secret, entry: undefined, reason }] };
}
