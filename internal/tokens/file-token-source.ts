import { unwatchFile, watchFile } from 'node:fs';
import type { Logger } from '../telemetry/logger.ts';
import type { TokenMetrics } from '../telemetry/token-metrics.ts';
import { defaultLabelSelector, organizationLabelOf } from './label-selector.ts';
import { readManifestFile } from './manifest-file.ts';
import { explain } from './refusal.ts';
import { showTokenSet } from './token-gauges.ts';
import { tokenSetOf, type TokenSet } from './token-set.ts';
import { authenticateIn, type Authentication, type TokenSource } from './token-source.ts';

export interface FileTokenSourceOptions {
  /** YAML documents: the Secret manifests that would be applied to a cluster. */
  readonly path: string;
  readonly labelSelector?: string;
  readonly logger: Logger;
  readonly metrics: TokenMetrics;
  /** How often the file is looked at, in milliseconds. */
  readonly intervalMs?: number;
}

/**
 * Tokens from a file of Secret manifests, read again whenever it changes. A file that cannot be read or parsed is
 * logged, and the last good one stays in force; at `start` it is an error that names the file.
 */
export class FileTokenSource implements TokenSource {
  readonly name = 'token file';
  readonly #options: FileTokenSourceOptions;
  readonly #organizationLabel: string;
  #set: TokenSet | undefined;
  #reading: Promise<void> = Promise.resolve();

  constructor(options: FileTokenSourceOptions) {
    this.#options = options;
    this.#organizationLabel = organizationLabelOf(options.labelSelector ?? defaultLabelSelector);
  }

  async start(): Promise<void> {
    const { path, intervalMs = 1000 } = this.#options;
    // Polled by path: a watch of the inode or the folder misses a renamed file or a swapped symlink behind it.
    watchFile(path, { interval: intervalMs, persistent: false }, this.#changed);
    try {
      await this.#read();
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    unwatchFile(this.#options.path, this.#changed);
    await this.#reading;
  }

  authenticate(token: string): Authentication {
    return authenticateIn(this.#set, token);
  }

  unready(): string | undefined {
    return this.#set === undefined ? `the tokens of ${this.#options.path} are not loaded` : undefined;
  }

  /** One after the other, so that an earlier content never replaces a later one. */
  readonly #changed = (): void => {
    this.#reading = this.#reading
      .then(() => this.#read())
      .catch((error: unknown) => {
        this.#options.logger.error({ error }, 'token file not usable, the last good tokens stay in force');
      });
  };

  async #read(): Promise<void> {
    const { path, logger, metrics } = this.#options;
    const set = tokenSetOf(await readManifestFile(path), this.#organizationLabel);
    this.#set = set;
    showTokenSet(metrics, set);
    metrics.listedAt.setToCurrentTime();
    for (const refusal of set.refusals) {
      logger.warn({ secret: refusal.secret.name, refusal: explain(refusal) }, 'token refused');
    }
    logger.info({ organizations: set.organizationCount, tokens: set.organizations.size, path }, 'tokens loaded');
  }
}
