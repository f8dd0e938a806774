import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { readAutomation } from '../expectation/read-automation.ts';
import { keyOf, type KubernetesObject } from '../kubernetes/object.ts';
import type { SecretManifest } from '../kubernetes/secret.ts';
import { WatchedFile } from '../kubernetes/watched-file.ts';
import { isObject, parseManifests, type Manifest } from '../kubernetes/yaml.ts';
import type { AutomationMetrics } from '../telemetry/automation-metrics.ts';
import type { Logger } from '../telemetry/logger.ts';
import { showAcceptances } from './acceptance-gauges.ts';
import { declare } from './declare.ts';
import type { Declarations, DeclarationSource } from './declarations.ts';
import { apiVersion, organizationOf, type ResourceManifest } from './manifest.ts';
import { signingKeysOf } from './signing-keys.ts';

export interface FileSourceOptions {
  /**
   * A file of YAML documents: the same `Automation`, `Webhook`, `Namespace` and `Secret` manifests
   * that a cluster takes.
   */
  readonly path: string;
  readonly logger: Logger;
  readonly metrics: AutomationMetrics;
  /** Interval of checks for changes, in ms. */
  readonly intervalMs?: number;
}

/**
 * Reads declarations from a file of manifests, and again when the file changes. It logs an invalid
 * file and keeps the last valid declarations. At `start` an invalid file is an error that names it.
 */
export class FileDeclarationSource implements DeclarationSource {
  readonly name = 'automations file';
  readonly #options: FileSourceOptions;
  readonly #file: WatchedFile<Content>;
  #content: Pick<Content, 'declarations' | 'secrets'> | undefined;

  constructor(options: FileSourceOptions) {
    const { path, intervalMs, logger, metrics } = options;
    this.#options = options;
    this.#file = new WatchedFile({
      path,
      intervalMs,
      read: async () => contentOf(await readFile(path, 'utf8'), path),
      onContent: (content) => this.#take(content),
      onInvalid: (error) => logger.error({ error }, 'automations file is invalid, keeping the last valid one'),
      onUnchanged: () => metrics.listedAt.setToCurrentTime(),
    });
  }

  start(): Promise<void> {
    return this.#file.start();
  }

  stop(): Promise<void> {
    return this.#file.stop();
  }

  unready(): string | undefined {
    return this.#content === undefined ? `the automations of ${this.#options.path} are not loaded` : undefined;
  }

  current(): Declarations | undefined {
    return this.#content?.declarations;
  }

  secretsOf(webhook: { readonly namespace: string; readonly name: string }): readonly string[] {
    return this.#content?.secrets.get(`${webhook.namespace}/${webhook.name}`) ?? [];
  }

  /** A file has no status. */
  afterTick(): void {}

  #take(content: Content): void {
    const { path, logger, metrics } = this.#options;
    // Not what the declarations were read from: that is the larger part.
    this.#content = { declarations: content.declarations, secrets: content.secrets };
    showAcceptances(metrics, content.acceptances);
    metrics.listedAt.setToCurrentTime();
    for (const { accepted, kind, manifest, reason, message } of content.acceptances) {
      const { namespace, name } = manifest.metadata ?? {};
      if (!accepted) logger.warn({ kind, namespace, name, reason, refusal: message }, 'declaration refused');
    }
    logger.info({ automations: content.declarations.automations.length, path }, 'automations loaded');
  }
}

interface Content extends ReturnType<typeof declare> {
  /** The signing keys of each webhook, by `namespace/name`. */
  readonly secrets: ReadonlyMap<string, readonly string[]>;
}

/** @throws an error that names the file and the place, and quotes none of its text. */
function contentOf(text: string, path: string): Content {
  const manifests = parseManifests(text, path).map((manifest) => inNamespace(manifest, path));
  // A program that rewrites the file may have emptied it.
  if (manifests.length === 0) throw new Error(`${path}: no manifest in it`);
  const ofKind = (kind: string): NamedManifest[] => manifests.filter((manifest) => manifest.kind === kind);
  const secrets = new Map(ofKind('Secret').map((secret) => [keyOf(secret), signingKeysOf(secret as SecretManifest)]));
  const keysOf = (namespace: string, secret: string) =>
    secrets.get(`${namespace}/${secret}`) ?? { reason: 'SecretNotFound', problem: 'it is not in the file' };
  const organizations = ofKind('Namespace').flatMap((namespace): [string, string][] => {
    const organization = organizationOf(namespace);
    return organization === undefined ? [] : [[namespace.metadata.name, organization]];
  });
  const declared = declare({
    automations: ofKind('Automation').map(asResource),
    webhooks: ofKind('Webhook').map(asResource),
    organizations: new Map(organizations),
    keysOf,
    check: ({ spec }) => readAutomation(spec),
  });
  const keys = declared.declarations.webhooks.map(({ namespace, name, secretRef }) => {
    const found = keysOf(namespace, secretRef);
    return [`${namespace}/${name}`, 'keys' in found ? found.keys : []] as const;
  });
  return { ...declared, secrets: new Map(keys) };
}

type NamedManifest = Manifest & KubernetesObject & { readonly metadata: { readonly name: string } };

const known = { Automation: apiVersion, Webhook: apiVersion, Namespace: 'v1', Secret: 'v1' } as const;

/** A manifest without a namespace is in `default`, as in a cluster. */
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
