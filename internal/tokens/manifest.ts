import { randomBytes } from 'node:crypto';
import { stringify } from 'yaml';
import { defaultLabelSelector } from './label-selector.ts';
import { digestOf } from './token-set.ts';

/** A new token: 256 random bits from the system, in the alphabet of URLs, with a prefix that secret scanners can find. */
export function createToken(): string {
  return `rl_${randomBytes(32).toString('base64url')}`;
}

/** What a token is called within its Secret, and what is kept of it there. */
export type TokenForm = 'clear' | 'sha256';

export interface SecretManifestOptions {
  readonly organization: string;
  /** Entries of the Secret in clear: key → token or digest. See `tokenEntry`. */
  readonly entries: Readonly<Record<string, string>>;
  /** Left out of the manifest when undefined: `kubectl` then takes the one of its context. */
  readonly namespace?: string | undefined;
  readonly name?: string;
}

/** Entry and value that put a token, or only its digest, into a Secret. */
export function tokenEntry(token: string, number: number, form: TokenForm = 'clear'): Record<string, string> {
  return form === 'clear' ? { [`token-${number}`]: token } : { [`sha256-${number}`]: digestOf(token) };
}

/**
 * The YAML of a Secret for `kubectl apply`. Values go under `data`: an entry that is later taken out of a manifest's
 * `stringData` would stay in the cluster, and a revoked token would go on working. Throws an Error for an
 * organization that cannot be the value of a label.
 */
export function secretManifest({ organization, entries, namespace, name }: SecretManifestOptions): string {
  checkOrganization(organization);
  const data = Object.fromEntries(
    Object.entries(entries).map(([entry, text]) => [entry, Buffer.from(text).toString('base64')]),
  );
  return stringify({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: name ?? secretName(organization),
      ...(namespace !== undefined && { namespace }),
      labels: { [defaultLabelSelector]: organization },
    },
    type: 'Opaque',
    data,
  });
}

/** Throws an Error unless this can be the value of a Kubernetes label, which names the organization. */
export function checkOrganization(organization: string): void {
  if (/^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/.test(organization)) return;
  throw new Error(
    'organization must be 1 to 63 letters, digits, "-", "_" or ".", and begin and end with a letter or digit',
  );
}

/** A name that Kubernetes takes; organizations that differ only in what a name cannot hold get different ones. */
function secretName(organization: string): string {
  const plain = organization.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  const suffix = plain === organization ? '' : `-${digestOf(organization).slice(0, 8)}`;
  return `runledger-${plain}${suffix}`;
}
