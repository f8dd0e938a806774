import { randomBytes } from 'node:crypto';
import { toYaml } from '../yaml.ts';
import { defaultLabelSelector } from './label-selector.ts';
import { digestOf, fingerprintOf, type Scope } from './token-entry.ts';

/**
 * Creates a token: 256 random bits in the URL-safe alphabet. Its prefix lets secret scanners find
 * it, and tells its scope: `rl_` for write tokens, `rlr_` for read tokens, and so on.
 */
export function createToken(scope: Scope = 'write'): string {
  return `${tokenPrefixes[scope]}_${randomBytes(32).toString('base64url')}`;
}

const tokenPrefixes = { write: 'rl', read: 'rlr', ping: 'rlp', manage: 'rlm' } as const;

/** What a token may do, by its prefix. A token that Runledger did not create is a write token. */
export function scopeOf(token: string): Scope {
  const scopes = ['read', 'ping', 'manage'] as const;
  return scopes.find((scope) => token.startsWith(`${tokenPrefixes[scope]}_`)) ?? 'write';
}

const entryPrefixes = { write: 'sha256', read: 'read-sha256', ping: 'ping-sha256', manage: 'manage-sha256' } as const;

/**
 * Returns the entry of a Secret that holds the digest of a token. Its name contains the token's
 * fingerprint: the same token is the same entry, and two tokens never share a name.
 */
export function tokenEntry(token: string, scope: Scope = scopeOf(token)): Record<string, string> {
  const digest = digestOf(token);
  return { [`${entryPrefixes[scope]}-${fingerprintOf(digest)}`]: digest };
}

export interface SecretManifestOptions {
  readonly organization: string;
  /** Entry → clear text, made by `tokenEntry`. */
  readonly entries: Readonly<Record<string, string>>;
  /** Undefined omits it: `kubectl` then uses the namespace of its context. */
  readonly namespace?: string | undefined;
  /** Default: derived from the organization; ends in the scope, such as `.read`, unless `write`. */
  readonly name?: string | undefined;
  /** The scope of the entries' tokens. Default: `write`. */
  readonly scope?: Scope | undefined;
  /** One of them names the organization. Default: only the usual label. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

/**
 * Returns the YAML of a Secret for `kubectl apply`. Values go under `data`: Kubernetes keeps
 * entries removed from `stringData`, so a revoked token would still work.
 * @throws for an organization that cannot be the value of a label.
 */
export function secretManifest(options: SecretManifestOptions): string {
  const { organization, scope, entries, namespace } = options;
  const labels = { [defaultLabelSelector]: organization };
  const { name = secretName(organization, scope) } = options;
  checkOrganization(organization);
  return secretYaml({ name, namespace, labels: options.labels ?? labels }, 'Opaque', encode(entries));
}

/**
 * Returns the YAML of a Secret with a key of the log under `ledger-key`, and the keys of its MACs
 * under `ledger-mac-key` and, for acts only, `ledger-act-key`.
 */
export function logKeyManifest(options: {
  key: string;
  macKey: string;
  actKey: string;
  namespace?: string | undefined;
  name?: string | undefined;
}): string {
  const { key, macKey, actKey, namespace, name = 'runledger-ledger-key' } = options;
  return secretYaml(
    { name, namespace },
    'Opaque',
    encode({ 'ledger-key': key, 'ledger-mac-key': macKey, 'ledger-act-key': actKey }),
  );
}

function secretYaml(metadata: object, type: string, data: object): string {
  return toYaml({ apiVersion: 'v1', kind: 'Secret', metadata, type, data });
}

function encode(texts: Readonly<Record<string, unknown>>): Record<string, string> {
  const base64 = (text: unknown): string => Buffer.from(String(text)).toString('base64');
  return Object.fromEntries(Object.entries(texts).map(([entry, text]) => [entry, base64(text)]));
}

/** @throws unless the text can be the value of a Kubernetes label, which names the organization. */
export function checkOrganization(organization: string): void {
  if (/^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/.test(organization)) return;
  throw new Error(
    'organization must be 1 to 63 letters, digits, "-", "_" or ".", and begin and end with a letter or digit',
  );
}

/**
 * Returns a name that Kubernetes accepts. Organizations whose plain names are equal get different
 * suffixes. The Secret of a read token has its own name: under a shared name, `kubectl apply` would
 * remove the other tokens.
 */
export function secretName(organization: string, scope: Scope = 'write'): string {
  const plain = organization.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  const suffix = plain === organization ? '' : `-${digestOf(organization).slice(0, 8)}`;
  return `runledger-${plain}${suffix}${scope === 'write' ? '' : `.${scope}`}`;
}
