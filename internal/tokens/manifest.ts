import { randomBytes } from 'node:crypto';
import { stringify } from 'yaml';
import { defaultLabelSelector } from './label-selector.ts';
import type { SecretManifest } from './secret-manifest.ts';
import { digestOf, type Scope } from './token-entry.ts';

/**
 * A new token: 256 random bits from the system, in the alphabet of URLs, with a prefix that secret
 * scanners can find and that tells a read token (`rlr_`) from a write token (`rl_`).
 */
export function createToken(scope: Scope = 'write'): string {
  return `${scope === 'read' ? 'rlr' : 'rl'}_${randomBytes(32).toString('base64url')}`;
}

/** What is kept of a token in its Secret. */
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
} as const;

/** Entry and value that put a token, or only its digest, into a Secret. */
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
  /** Left out of the manifest when undefined: `kubectl` then takes the one of its context. */
  readonly namespace?: string | undefined;
  /** Made from the organization if undefined; with `.read` at its end if `scope` is `read`. */
  readonly name?: string | undefined;
  /** What the tokens of the entries may do; `write` unless set. */
  readonly scope?: Scope | undefined;
  /** The label that names the organization. */
  readonly label?: string | undefined;
}

/**
 * The YAML of a Secret for `kubectl apply`. Values go under `data`: an entry that is later taken
 * out of a manifest's `stringData` would stay in the cluster, and a revoked token would go on
 * working. Throws an Error for an organization that cannot be the value of a label.
 */
export function secretManifest(options: SecretManifestOptions): string {
  const { organization, scope, entries, namespace, label = defaultLabelSelector } = options;
  const { name = secretName(organization, scope) } = options;
  checkOrganization(organization);
  return toYaml({ name, namespace, labels: { [label]: organization } }, 'Opaque', encode(entries));
}

/**
 * The YAML of the same Secret with one token more, under the next free number; the tokens that are
 * there go on working. What only the API server writes, such as a resourceVersion, is left out.
 */
export function addToken(manifest: SecretManifest, token: NewToken): string {
  const { metadata: { name, namespace, labels, annotations } = {}, type = 'Opaque', stringData } = manifest;
  const data = { ...manifest.data, ...encode(stringData ?? {}) };
  const numbers = Object.keys(data).map((entry) =>
    Number(/^(?:token|sha256|read|read-sha256)-(\d+)$/.exec(entry)?.[1] ?? 0),
  );
  const added = tokenEntry(token, Math.max(0, ...numbers) + 1);
  const { [lastApplied]: _, ...kept } = annotations ?? {};
  const metadata = { name, namespace, labels, annotations: Object.keys(kept).length > 0 ? kept : undefined };
  return toYaml(metadata, type, { ...data, ...encode(added) });
}

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

function toYaml(metadata: object, type: string, data: object): string {
  return stringify({ apiVersion: 'v1', kind: 'Secret', metadata, type, data });
}

function encode(texts: Readonly<Record<string, unknown>>): Record<string, string> {
  const base64 = (text: unknown): string => Buffer.from(String(text)).toString('base64');
  return Object.fromEntries(Object.entries(texts).map(([entry, text]) => [entry, base64(text)]));
}

/**
 * Throws an Error unless this can be the value of a Kubernetes label, which names the organization.
 */
function checkOrganization(organization: string): void {
  if (/^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/.test(organization)) return;
  throw new Error(
    'organization must be 1 to 63 letters, digits, "-", "_" or ".", and begin and end with a letter or digit',
  );
}

/**
 * A name that Kubernetes takes; organizations that differ only in what a name cannot hold get
 * different ones. The Secret of a read token has a name of its own: under the name of another
 * Secret, `kubectl apply` would take away the tokens of that one.
 */
function secretName(organization: string, scope: Scope = 'write'): string {
  const plain = organization.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  const suffix = plain === organization ? '' : `-${digestOf(organization).slice(0, 8)}`;
  return `runledger-${plain}${suffix}${scope === 'read' ? '.read' : ''}`;
}
