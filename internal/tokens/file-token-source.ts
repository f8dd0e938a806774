import { stat } from 'node:fs/promises';
import type { Logger } from '../telemetry/logger.ts';
import type { TokenMetrics } from '../telemetry/token-metrics.ts';
import { defaultLabelSelector, organizationLabelOf } from './label-selector.ts';
import { readManifestFile } from './manifest-file.ts';
import { explain } from './secret-refusal.ts';
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
 * Tokens from a file of Secret manifests, read again whenever it changes. A file that cannot be
 * read or parsed is logged, and the last good one stays in force; at `start` it is an error that
 * names the file.
 */
export class FileTokenSource implements TokenSource {
  readonly name = 'token file';
  readonly #options: FileTokenSourceOptions;
  readonly #organizationLabel: string;
  #set: TokenSet | undefined;
  #version = '';
  /** The version whose tokens are in force. */
  #taken = '';
  #timer: NodeJS.Timeout | undefined;
  #refreshing: Promise<unknown> = Promise.resolve();

  constructor(options: FileTokenSourceOptions) {
    this.#options = options;
    this.#organizationLabel = organizationLabelOf(options.labelSelector ?? defaultLabelSelector);
  }

  async start(): Promise<void> {
    this.#version = await versionOf(this.#options.path);
    this.#take(await this.#read());
    this.#taken = this.#version;
    // Looked at by path: a watch of the inode or the folder misses a renamed file or a swapped
    // symlink behind it.
    this.#timer = setInterval(() => void this.refresh(), this.#options.intervalMs ?? 1000).unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#refreshing;
  }

  authenticate(token: string): Authentication {
    return authenticateIn(this.#set, token);
  }

  unready(): string | undefined {
    return this.#set === undefined ? `the tokens of ${this.#options.path} are not loaded` : undefined;
  }

  /**
   * Reads the file again if it changed, and logs when it is of no use. One after the other, never
   * two at once.
   */
  async refresh(): Promise<void> {
    const next = this.#refreshing.then(() => this.#readIfChanged());
    this.#refreshing = next;
    await next;
  }

  async #readIfChanged(): Promise<void> {
    const { path, logger, metrics } = this.#options;
    const version = await versionOf(path);
    // What was read before and is there unchanged has been found good once more: its age does not
    // grow.
    if (version === this.#taken) metrics.listedAt.setToCurrentTime();
    if (version === this.#version) return;
    const before = this.#version;
    this.#version = version;
    try {
      const set = await this.#read();
      // Still being written: half a file may be valid and would take tokens away that are in the
      // other half.
      if ((await versionOf(path)) !== version) {
        this.#version = before;
        return;
      }
      this.#take(set);
      this.#taken = version;
    } catch (error) {
      logger.error({ error }, 'token file not usable, the last good tokens stay in force');
    }
  }

  async #read(): Promise<TokenSet> {
    const { path } = this.#options;
    const secrets = await readManifestFile(path);
    // As of a file that was just emptied to be written anew.
    if (secrets.length === 0) throw new Error(`${path}: no Secret in it`);
    return tokenSetOf(secrets, this.#organizationLabel);
  }

  #take(set: TokenSet): void {
    const { path, logger, metrics } = this.#options;
    this.#set = set;
    showTokenSet(metrics, set);
    metrics.listedAt.setToCurrentTime();
    for (const refusal of set.refusals) {
      logger.warn({ secret: refusal.secret.name, refusal: explain(refusal) }, 'token refused');
    }
    logger.info({ organizations: set.organizationCount, tokens: set.tokens.size, path }, 'tokens loaded');
  }
}

/** Differs whenever the content may differ; the same for all the time that the file is missing. */
async function versionOf(path: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join();
  } catch (error) {
    return String(error);
  }
}
