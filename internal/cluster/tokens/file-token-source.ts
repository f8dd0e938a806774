import { WatchedFile } from '../watched-file.ts';
import type { Logger } from '../../kit/telemetry/logger.ts';
import type { TokenMetrics } from './token-metrics.ts';
import { defaultLabelSelector, organizationLabelOf } from './label-selector.ts';
import { readManifestFile } from './manifest-file.ts';
import { explain } from './secret-refusal.ts';
import { showTokenSet } from './token-gauges.ts';
import { tokenSetOf, type TokenSet } from './token-set.ts';
import { HeldTokens, type TokenSource } from './token-source.ts';

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
 * Reads tokens from a file of Secret manifests, and again when the file changes. An invalid file is
 * logged, and the last valid tokens stay. At `start` it is an error that names the file.
 */
export class FileTokenSource extends HeldTokens implements TokenSource {
  readonly name = 'token file';
  readonly #options: FileTokenSourceOptions;
  readonly #file: WatchedFile<TokenSet>;

  constructor(options: FileTokenSourceOptions) {
    const { path, labelSelector = defaultLabelSelector, logger, metrics, intervalMs } = options;
    super();
    this.#options = options;
    const organizationLabel = organizationLabelOf(labelSelector);
    this.#file = new WatchedFile({
      path,
      intervalMs,
      read: () => readTokenSet(path, organizationLabel),
      onContent: (set) => this.#take(set),
      onInvalid: (error) => logger.error({ error }, 'token file is invalid, keeping the last valid tokens'),
      // An unchanged file counts as read again, so that its age does not grow.
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
    return this.set === undefined ? `the tokens of ${this.#options.path} are not loaded` : undefined;
  }

  /** Reads the file again if it changed, and logs an invalid file. Calls run one after another. */
  refresh(): Promise<void> {
    return this.#file.refresh();
  }

  #take(set: TokenSet): void {
    const { path, logger, metrics } = this.#options;
    this.set = set;
    showTokenSet(metrics, set);
    metrics.listedAt.setToCurrentTime();
    for (const refusal of set.refusals) {
      logger.warn({ secret: refusal.secret.name, refusal: explain(refusal) }, 'token refused');
    }
    logger.info({ organizations: set.organizations.length, tokens: set.tokens.size, path }, 'tokens loaded');
  }
}

async function readTokenSet(path: string, organizationLabel: string): Promise<TokenSet> {
  const secrets = await readManifestFile(path);
  // A program that rewrites the file may have emptied it.
  if (secrets.length === 0) throw new Error(`${path}: no Secret in it`);
  return tokenSetOf(secrets, organizationLabel);
}
