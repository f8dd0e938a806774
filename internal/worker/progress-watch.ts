import { Repeating } from '../async/repeating.ts';
import { settledWithin } from '../async/settled-within.ts';

/** What the watch asks, every time anew. */
export interface ProgressSources {
  /** Jobs that wait for a worker; undefined while Redis does not tell, or refuses commands. */
  waitingJobs: () => Promise<number | undefined>;
  /** Resolves when Postgres answers. */
  pingDatabase: () => Promise<unknown>;
  /** True while Postgres cannot take events. */
  holding: () => boolean;
  /** Batches stored so far: what changes while there is progress. */
  stored: () => number;
}

/** Between two looks, and the longest that one question may take, in ms. */
export interface ProgressTimes {
  intervalMs: number;
  answerMs: number;
}

/**
 * Between two looks while something is not well, in ms. None of those counts against the worker.
 */
const troubledMs = 200;

/**
 * Looks in a row without progress after which a restart is asked for: a minute, with five seconds
 * between them.
 */
const patience = 12;

/**
 * Tells a worker that is stuck from one that cannot work: only the first is mended by a restart.
 * Stuck means that jobs wait, Redis and Postgres are well, and nothing is stored. Looks are
 * counted, not seconds, so that the time during which a process was frozen does not count.
 */
export class ProgressWatch {
  readonly name = 'progress watch';
  readonly #sources: ProgressSources;
  readonly #times: ProgressTimes;
  readonly #looks = new Repeating(() => this.#look());
  #queueProblem: string | undefined = 'Redis has not been asked yet.';
  #databaseProblem: string | undefined = 'Postgres has not been asked yet.';
  #idleLooks = 0;
  #stored = 0;
  #waiting = 0;

  constructor(sources: ProgressSources, times: ProgressTimes = { intervalMs: 5_000, answerMs: 3_000 }) {
    this.#sources = sources;
    this.#times = times;
  }

  /** For readiness: why no job can be fetched. */
  get queueProblem(): string | undefined {
    return this.#queueProblem;
  }

  /** For readiness: why no event can be stored. */
  get databaseProblem(): string | undefined {
    return this.#databaseProblem;
  }

  /**
   * For liveness: why this process should be restarted. Never because Redis or Postgres is away.
   */
  get stuck(): string | undefined {
    if (this.#idleLooks < patience) return undefined;
    const seconds = Math.round((this.#idleLooks * this.#times.intervalMs) / 1_000);
    return `${this.#waiting} jobs wait and nothing was stored for ${seconds} s, though Redis and Postgres are well.`;
  }

  async start(): Promise<void> {
    this.#looks.start();
  }

  async stop(): Promise<void> {
    await this.#looks.stop();
  }

  /** Takes one look now. Never rejects. */
  async runOnce(): Promise<void> {
    const { waitingJobs, pingDatabase, holding, stored } = this.#sources;
    const { answerMs } = this.#times;
    const [waiting, answered] = await Promise.all([
      settledWithin(answerMs, waitingJobs()),
      settledWithin(
        answerMs,
        pingDatabase().then(() => true),
      ),
    ]);
    this.#queueProblem = waiting === undefined ? 'Redis does not answer, or refuses commands.' : undefined;
    this.#databaseProblem = answered === undefined ? 'Postgres does not answer.' : undefined;
    if (holding()) this.#databaseProblem ??= 'Postgres cannot take events.';
    const progressed = stored() !== this.#stored;
    this.#stored = stored();
    this.#waiting = waiting ?? 0;
    const excused = this.#waiting === 0 || this.#databaseProblem !== undefined || progressed;
    this.#idleLooks = excused ? 0 : this.#idleLooks + 1;
  }

  /**
   * Resolves with the pause before the next look, in ms. A worker that starts, or whose servers
   * come back, is to be ready soon.
   */
  async #look(): Promise<number> {
    await this.runOnce();
    const well = this.#queueProblem === undefined && this.#databaseProblem === undefined;
    return well ? this.#times.intervalMs : troubledMs;
  }
}
