import { Repeating } from '../kit/async/repeating.ts';
import { within } from '../kit/async/within.ts';
import type { WatchMetrics } from '../kit/telemetry/console-metrics.ts';
import type { Logger } from '../kit/telemetry/logger.ts';
import type { Queries } from './queries.ts';

/** Time between two looks, and longest duration of one, in ms. */
const intervalMs = 2_000;
const longestMs = 5_000;

/** Looks at the database of a console: whether it answers, its role, and its lag as a replica. */
export class RecordWatch {
  readonly name = 'record watch';
  readonly #record: Queries;
  readonly #metrics: WatchMetrics;
  readonly #logger: Logger;
  readonly #looks = new Repeating(() => this.#look());
  #problem: string | undefined = 'Postgres has not been asked yet.';
  #answeredOnce = false;
  #lagMs: number | undefined;
  #readerRole: boolean | undefined;

  constructor(record: Queries, metrics: WatchMetrics, logger: Logger) {
    this.#record = record;
    this.#metrics = metrics;
    this.#logger = logger;
  }

  /** Why the record cannot be read now; undefined when it can. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Why the record could never be read yet; undefined once it could. */
  get neverAnswered(): string | undefined {
    return this.#answeredOnce ? undefined : this.#problem;
  }

  /** How far the replica was behind at the last look, in ms; undefined for a primary. */
  get lagMs(): number | undefined {
    return this.#lagMs;
  }

  async start(): Promise<void> {
    this.#looks.start();
  }

  async stop(): Promise<void> {
    await this.#looks.stop();
  }

  async #look(): Promise<number> {
    try {
      await within(longestMs, this.#read());
      this.#problem = undefined;
      this.#answeredOnce = true;
    } catch (error) {
      if (this.#problem === undefined || !this.#answeredOnce) this.#logger.warn({ error }, 'postgres cannot be read');
      this.#problem = 'Postgres does not answer.';
      this.#lagMs = undefined;
      this.#metrics.replicaLag.remove();
    }
    return intervalMs;
  }

  async #read(): Promise<void> {
    this.#lagMs = await this.#record.replicaLagMs();
    if (this.#lagMs === undefined) this.#metrics.replicaLag.remove();
    else this.#metrics.replicaLag.set(this.#lagMs / 1_000);
    const readerRole = await this.#record.usesReaderRole();
    this.#metrics.readerRole.set(Number(readerRole));
    if (!readerRole && this.#readerRole !== false) this.#logger.warn('queries do not run as runledger_reader');
    this.#readerRole = readerRole;
  }
}
