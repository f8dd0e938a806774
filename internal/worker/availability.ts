import type { Logger } from '../kit/telemetry/logger.ts';
import type { Batcher } from './batcher.ts';

/** Checks without a stored batch until a database counts as unavailable, and their interval. */
const [patience, checkMs] = [6, 500];

/** Consecutive checks without progress, and the batches that were stored before them. */
interface Watched {
  idleChecks: number;
  storedBatches: number;
}

/**
 * Tracks which databases make progress. One that stores nothing for three seconds gives up its jobs
 * until it stores again. It counts checks, so the time of a frozen process does not count.
 */
export class Availability {
  readonly #batchers: ReadonlyMap<string, Batcher>;
  readonly #logger: Logger;
  readonly #watched = new Map<string, Watched>();
  #checks: NodeJS.Timeout | undefined;

  constructor(batchers: ReadonlyMap<string, Batcher>, logger: Logger) {
    this.#batchers = batchers;
    this.#logger = logger;
  }

  /** Idempotent. */
  start(): void {
    this.#checks ??= setInterval(() => this.#check(), checkMs).unref();
  }

  stop(): void {
    clearInterval(this.#checks);
  }

  /** True unless the database is known to be unavailable. */
  isAvailable(name: string): boolean {
    return (this.#watched.get(name)?.idleChecks ?? 0) < patience;
  }

  #check(): void {
    for (const [name, batcher] of this.#batchers) {
      const { storedBatches } = batcher;
      const before = this.#watched.get(name) ?? { idleChecks: 0, storedBatches };
      const progressed = storedBatches !== before.storedBatches || batcher.idle;
      const idleChecks = progressed ? 0 : before.idleChecks + 1;
      this.#watched.set(name, { idleChecks, storedBatches });
      if (idleChecks < patience) continue;
      if (idleChecks === patience) {
        this.#logger.warn({ database: name }, 'postgres stores nothing, setting its events aside');
      }
      batcher.withdraw();
    }
  }
}
