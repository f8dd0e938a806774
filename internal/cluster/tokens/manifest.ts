import { randomBytes } from 'node:crypto';
import { toYaml } from '../yaml.ts';
import { defaultLabelSelector } from './label-selector.ts';
import type { SecretManifest } from '../secret.ts';
import { digestOf, type Scope } from './token-entry.ts';

/**
 * Creates a token: 256 random bits in the alphabet of URLs. Its prefix lets secret scanners find
 * it, and distinguishes write tokens (`rl_`), read tokens (`rlr_`) and ping keys (`rlp_`).
 */
export function createToken(scope: Scope = 'write'): string {
  return `${tokenPrefixes[scope]}_${randomBytes(32).toString('base64url')}`;
}

const tokenPrefixes = { write: 'rl', read: 'rlr', ping: 'rlp' } as const;

/** The form of a token in its Secret: the digest, or clear text. */
export type TokenForm = 'clear' | 'sha256';

/** A token to put into a Secret. */
export interface NewToken {
  readonly token: string;
  /** `write` unless set. */
  readonly scope?: Scope;
  /** `clear` unless set. */
  readonly form?: TokenForm;
}

const prefixes = {
  write: { clear: 'token', sha256: 'sha256' },
  read: { clear: 'read', sha256: 'read-sha256' },
  ping: { clear: 'ping', sha256: 'ping-sha256' },
} as const;

/** Returns the entry of a Secret that holds a token or its digest. */
export function tokenEntry(
  { token, scope = 'write', form = 'clear' }: NewToken,
  number: number,
): Record<string, string> {
  return { [`${prefixes[scope][form]}-${number}`]: form === 'clear' ? token : digestOf(token) };
}

export interface SecretManifestOptions {
  readonly organization: string;
  /** Entry → clear text, made by `tokenEntry`. */
  readonly entries: Readonly<Record<string, string>>;
  /** Undefined omits it: `kubectl` then uses the namespace of its context. */
  readonly namespace?: string | undefined;
  /** Made from the organization if undefined; ends in `.read` or `.ping` for these scopes. */
  readonly name?: string | undefined;
  /** The scope of the entries' tokens; `write` unless set. */
  readonly scope?: Scope | undefined;
  /** The label that names the organization. */
  readonly label?: string | undefined;
}

/**
 * Returns the YAML of a Secret for `kubectl apply`. Values go under `data`: Kubernetes keeps an
 * entry that is removed from `stringData`, so a revoked token would still work.
 * @throws for an organization that cannot be the value of a label.
 */
export function secretManifest(options: SecretManifestOptions): string {
  const { organization, scope, entries, namespace, label = defaultLabelSelector } = options;
  const { name = secretName(organization, scope) } = options;
  checkOrganization(organization);
  return secretYaml({ name, namespace, labels: { [label]: organization } }, 'Opaque', encode(entries));
}

/**
 * Returns the YAML of a Secret with a key of the log, under the entry `ledger-key`, and with the
 * key of its MACs, under `ledger-mac-key`.
 */
export function logKeyManifest(options: {
  key: string;
  macKey: string;
  namespace?: string | undefined;
  name?: string | undefined;
}): string {
  const { key, macKey, namespace, name = 'runledger-ledger-key' } = options;
  return secretYaml({ name, namespace }, 'Opaque', encode({ 'ledger-key': key, 'ledger-mac-key': macKey }));
}

/**
 * Returns the YAML of the same Secret with one more token, under the next free number. The existing
 * tokens still work. It omits fields that only the API server writes, such as resourceVersion.
 */
export function addToken(manifest: SecretManifest, token: NewToken): string {
  const { metadata: { name, namespace, labels, annotations } = {}, type = 'Opaque', stringData } = manifest;
  const data = { ...manifest.data, ...encode(stringData ?? {}) };
  const numbers = Object.keys(data).map((entry) =>
    Number(/^(?:token|sha256|read|read-sha256|ping|ping-sha256)-(\d+)$/.exec(entry)?.[1] ?? 0),
  );
  const added = tokenEntry(token, Math.max(0, ...numbers) + 1);
  const { [lastApplied]: _, ...kept } = annotations ?? {};
  const metadata = { name, namespace, labels, annotations: Object.keys(kept).length > 0 ? kept : undefined };
  return secretYaml(metadata, type, { ...data, ...encode(added) });
}

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

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
 * suffixes. The Secret of a read token has its own name: under the name of another Secret, `kubectl
 * apply` would remove the tokens of that one.
 */
export function secretName(organization: string, scope: Scope = 'write'): string {
  const plain = organization.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  const suffix = plain === organization ? '' : `-${digestOf(organization).slice(0, 8)}`;
  return `runledger-${plain}${suffix}${scope === 'write' ? '' : `.${scope}`}`;
}
