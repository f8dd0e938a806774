import { Repeating } from '../../kit/async/repeating.ts';
import type { Database } from '../../store/database.ts';
import type { Logger } from '../../kit/telemetry/logger.ts';
import { deleteOld } from './delete-old.ts';

/** Time between two deletions, also after an error, in ms. */
const everyMs = 3_600_000;

export interface CleanerOptions {
  db: Database;
  /** How long alerts and deliveries are kept after their end; 0 keeps them forever. */
  retentionDays: number;
  logger: Logger;
}

/** Deletes old alerts, deliveries and gaps every hour, independently of ticks. */
export class Cleaner {
  readonly name = 'cleaner';
  readonly #options: CleanerOptions;
  readonly #runs = new Repeating(async () => {
    await this.runOnce();
    return everyMs;
  });
  #stopping = new AbortController();

  constructor(options: CleanerOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    this.#runs.start();
  }

  /** Ends after the current statement. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#runs.stop();
  }

  /** Runs one deletion. Never rejects: what is left is deleted an hour later. */
  async runOnce(): Promise<void> {
    const { db, retentionDays, logger } = this.#options;
    const { signal } = this.#stopping;
    try {
      await deleteOld(db, retentionDays, signal);
    } catch (error) {
      if (!signal.aborted) logger.warn({ error }, 'old alerts and deliveries cannot be deleted, retrying in an hour');
    }
  }
}
