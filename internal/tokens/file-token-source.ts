import { stat } from 'node:fs/promises';
import { Repeating } from '../async/repeating.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { TokenMetrics } from '../telemetry/token-metrics.ts';
import { defaultLabelSelector, organizationLabelOf } from './label-selector.ts';
import { readManifestFile } from './manifest-file.ts';
import { explain } from './secret-refusal.ts';
import { showTokenSet } from './token-gauges.ts';
import { tokenSetOf, type TokenSet } from './token-set.ts';
import { authenticateDigestIn, authenticateIn, type Authentication, type TokenSource } from './token-source.ts';

export interface FileTokenSourceOptions {
  /** A file of YAML documents: the same Secret manifests that a cluster takes. */
  readonly path: string;
  readonly labelSelector?: string;
  readonly logger: Logger;
  readonly metrics: TokenMetrics;
  /** Interval of checks for changes, in ms. */
  readonly intervalMs?: number;
}

/**
 * Reads tokens from a file of Secret manifests, and again when the file changes. It logs an invalid
 * file and keeps the last valid tokens. At `start` an invalid file is an error that names the file.
 */
export class FileTokenSource implements TokenSource {
  readonly name = 'token file';
  readonly #options: FileTokenSourceOptions;
  readonly #organizationLabel: string;
  readonly #intervalMs: number;
  #set: TokenSet | undefined;
  #version = '';
  /** The version of the file whose tokens are in use. */
  #taken = '';
  readonly #refreshes: Repeating;
  #refreshing: Promise<unknown> = Promise.resolve();

  constructor(options: FileTokenSourceOptions) {
    this.#options = options;
    this.#intervalMs = options.intervalMs ?? 1_000;
    this.#organizationLabel = organizationLabelOf(options.labelSelector ?? defaultLabelSelector);
    // Checks the path: a watch of the inode or the folder misses a renamed file and a swapped
    // symlink.
    this.#refreshes = new Repeating(async () => {
      await this.refresh();
      return this.#intervalMs;
    });
  }

  async start(): Promise<void> {
    this.#version = await versionOf(this.#options.path);
    this.#take(await this.#read());
    this.#taken = this.#version;
    this.#refreshes.start(this.#intervalMs);
  }

  async stop(): Promise<void> {
    await this.#refreshes.stop();
    await this.#refreshing;
  }

  authenticate(token: string): Authentication {
    return authenticateIn(this.#set, token);
  }

  authenticateDigest(digest: string): Authentication {
    return authenticateDigestIn(this.#set, digest);
  }

  organizations(): readonly string[] {
    return this.#set?.organizations ?? [];
  }

  unready(): string | undefined {
    return this.#set === undefined ? `the tokens of ${this.#options.path} are not loaded` : undefined;
  }

  /** Reads the file again if it changed, and logs an invalid file. Calls run one after another. */
  async refresh(): Promise<void> {
    const next = this.#refreshing.then(() => this.#readIfChanged());
    this.#refreshing = next;
    await next;
  }

  async #readIfChanged(): Promise<void> {
    const { path, logger, metrics } = this.#options;
    const version = await versionOf(path);
    // An unchanged file counts as read again: its age does not grow.
    if (version === this.#taken) metrics.listedAt.setToCurrentTime();
    if (version === this.#version) return;
    const before = this.#version;
    this.#version = version;
    try {
      const set = await this.#read();
      // A writer is not finished. Half a file may be valid and lack the tokens of the other half.
      if ((await versionOf(path)) !== version) {
        this.#version = before;
        return;
      }
      this.#take(set);
      this.#taken = version;
    } catch (error) {
      logger.error({ error }, 'token file is invalid, keeping the last valid tokens');
    }
  }

  async #read(): Promise<TokenSet> {
    const { path } = this.#options;
    const secrets = await readManifestFile(path);
    // A program that rewrites the file may have emptied it.
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
    logger.info({ organizations: set.organizations.length, tokens: set.tokens.size, path }, 'tokens loaded');
  }
}

/**
 * Returns a text that changes when the content may have changed. It is constant while the file is
 * missing.
 */
async function versionOf(path: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join();
  } catch (error) {
    return String(error);
  }
}
