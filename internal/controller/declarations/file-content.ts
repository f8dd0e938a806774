import { hash } from 'node:crypto';
import { readAutomation } from '../../expectation/read-automation.ts';
import { keyOf, type KubernetesObject } from '../../cluster/object.ts';
import { isObject, parseManifests, type Manifest } from '../../cluster/yaml.ts';
import { declare, type AutomationManifest } from './declare.ts';
import { bytesOf } from './declared-limits.ts';
import { collectGarbage, manifestsPerCollection } from './garbage.ts';
import { apiVersion, organizationOf, turnsDefaultsOff, type ResourceManifest } from './manifest.ts';
import { signingKeysOf, type SigningKeys } from './signing-keys.ts';

/** The declarations of a file. */
export interface FileContent extends ReturnType<typeof declare> {
  /** The signing keys of each channel, by `namespace/name`. */
  readonly secrets: ReadonlyMap<string, readonly string[]>;
}

/**
 * Reads the manifests of a file. Keeps only the checked spec of each automation: manifests take
 * twice the memory.
 * @throws an error that names the file and the place, without quoting its text.
 */
export function contentOf(text: string, path: string): FileContent {
  const automations: AutomationManifest[] = [];
  const channels: ResourceManifest[] = [];
  const organizations = new Map<string, string>();
  const silent: string[] = [];
  const secrets = new Map<string, SigningKeys>();
  let count = 0;
  for (const given of parseManifests(text, path)) {
    count += 1;
    if (count % manifestsPerCollection === 0) collectGarbage();
    // The strings of `given` are slices of the text, and would keep all of it in memory.
    const manifest = inNamespace(structuredClone(given), path);
    const organization = manifest.kind === 'Namespace' ? organizationOf(manifest) : undefined;
    if (organization !== undefined) organizations.set(manifest.metadata.name, organization);
    if (organization !== undefined && turnsDefaultsOff(manifest)) silent.push(organization);
    if (manifest.kind === 'Secret') secrets.set(keyOf(manifest), signingKeysOf(manifest));
    if (manifest.kind === 'Automation') automations.push(readResource(asResource(manifest)));
    if (manifest.kind === 'Channel') channels.push(asResource(manifest));
  }
  // A program that is rewriting the file may have emptied it.
  if (count === 0) throw new Error(`${path}: no manifest in it`);
  const keysOf = (namespace: string, secret: string) =>
    secrets.get(`${namespace}/${secret}`) ?? { reason: 'SecretNotFound', problem: 'it is not in the file' };
  const declared = declare({ automations, channels, organizations, silent, keysOf });
  const keys = declared.declarations.channels.map(({ namespace, name, secretRef }) => {
    const found = keysOf(namespace, secretRef);
    return [`${namespace}/${name}`, 'keys' in found ? found.keys : []] as const;
  });
  return { ...declared, secrets: new Map(keys) };
}

function readResource({ spec, ...manifest }: ResourceManifest): AutomationManifest {
  const read = readAutomation(spec);
  return { manifest, read, bytes: bytesOf(read) };
}

type NamedManifest = Manifest & KubernetesObject & { readonly metadata: { readonly name: string } };

const known = { Automation: apiVersion, Channel: apiVersion, Namespace: 'v1', Secret: 'v1' } as const;

/** Puts a manifest without a namespace into `default`, as a cluster does. */
function inNamespace(manifest: Manifest, path: string): NamedManifest {
  const { kind, metadata } = manifest;
  if (!Object.hasOwn(known, kind))
    throw new Error(`${path}: ${kind} is unknown; known are ${Object.keys(known).join(', ')}`);
  const expected = known[kind as keyof typeof known];
  if (manifest['apiVersion'] !== expected) throw new Error(`${path}: ${kind}: apiVersion must be ${expected}`);
  if (!isObject(metadata) || typeof metadata['name'] !== 'string') {
    throw new Error(`${path}: a manifest of kind ${kind} has no metadata.name`);
  }
  if (kind === 'Namespace') return manifest as NamedManifest;
  return { ...manifest, metadata: { namespace: 'default', ...metadata } } as unknown as NamedManifest;
}

/** A resource with the fields that an API server would add. */
function asResource(manifest: NamedManifest): ResourceManifest {
  const { metadata, spec } = manifest as NamedManifest & ResourceManifest;
  const generation = Number.parseInt(hash('sha256', JSON.stringify(spec) ?? '').slice(0, 12), 16);
  return { metadata: { ...metadata, uid: `file:${keyOf(manifest)}`, generation }, spec };
}
