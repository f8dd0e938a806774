import { readFile } from 'node:fs/promises';
import { WatchedFile } from '../../cluster/watched-file.ts';
import type { AutomationMetrics } from './automation-metrics.ts';
import type { Logger } from '../../kit/telemetry/logger.ts';
import { showAcceptances } from './acceptance-gauges.ts';
import { contentOf, type FileContent } from './file-content.ts';
import type { Declarations, DeclarationSource, UnstoredResource } from './declarations.ts';
import type { Acceptance } from './declare.ts';
import { collectGarbage, manifestsPerCollection } from './garbage.ts';
import { UnstoredResources } from './unstored.ts';

export interface FileSourceOptions {
  /**
   * A file of YAML documents: the same `Automation`, `Channel`, `Namespace` and `Secret` manifests
   * as in a cluster.
   */
  readonly path: string;
  readonly logger: Logger;
  readonly metrics: AutomationMetrics;
  /** Interval between checks for changes, in ms. */
  readonly intervalMs?: number;
}

/**
 * Reads declarations from a file of manifests, and again whenever it changes. If a change is
 * invalid, it logs that and keeps the last valid declarations. `start` rejects if the file is
 * invalid.
 */
export class FileDeclarationSource implements DeclarationSource {
  readonly name = 'automations file';
  readonly #options: FileSourceOptions;
  readonly #file: WatchedFile<FileContent>;
  readonly #unstored = new UnstoredResources();
  #acceptances: readonly Acceptance[] = [];
  #content: Pick<FileContent, 'declarations' | 'secrets'> | undefined;

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

  secretsOf(channel: { readonly namespace: string; readonly name: string }): readonly string[] {
    return this.#content?.secrets.get(`${channel.namespace}/${channel.name}`) ?? [];
  }

  refuse(resources: readonly UnstoredResource[]): void {
    this.#unstored.add(resources, this.#acceptances);
    for (const { kind, namespace, name, message } of resources) {
      this.#options.logger.warn(
        { kind, namespace, name, reason: 'NotStored', refusal: message },
        'declaration refused',
      );
    }
    showAcceptances(this.#options.metrics, this.#unstored.applyTo(this.#acceptances));
  }

  /** A file has no status. */
  afterTick(): void {}

  #take(content: FileContent): void {
    const { path, logger, metrics } = this.#options;
    // Drops what the declarations were read from, which is the larger part.
    this.#content = { declarations: content.declarations, secrets: content.secrets };
    this.#acceptances = content.acceptances.map(({ manifest: { metadata = {} }, ...rest }) => {
      const { namespace, name, generation } = metadata;
      return { ...rest, manifest: { metadata: { namespace, name, generation } } };
    });
    showAcceptances(metrics, this.#unstored.applyTo(this.#acceptances));
    metrics.listedAt.setToCurrentTime();
    for (const { accepted, kind, manifest, reason, message } of content.acceptances) {
      const { namespace, name } = manifest.metadata ?? {};
      if (!accepted) logger.warn({ kind, namespace, name, reason, refusal: message }, 'declaration refused');
    }
    const automations = content.declarations.automations.length;
    if (automations >= manifestsPerCollection) collectGarbage();
    logger.info({ automations, path }, 'automations loaded');
  }
}
