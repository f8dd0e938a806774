import { Repeating } from '../kit/async/repeating.ts';
import { settledWithin } from '../kit/async/settled-within.ts';

/** The inputs of each check. */
export interface ProgressSources {
  /** Jobs that wait for a worker; undefined while Redis is unavailable or rejects commands. */
  waitingJobs: () => Promise<number | undefined>;
  /** Resolves when Postgres answers. */
  pingDatabase: () => Promise<unknown>;
  /** True while Postgres cannot store events. */
  retrying: () => boolean;
  /** Batches stored so far; grows while there is progress. */
  stored: () => number;
}

/** Time between two checks, and the time limit of one answer, in ms. */
export interface ProgressTimes {
  intervalMs: number;
  answerMs: number;
}

/** Time between two checks while a server is unavailable, in ms. Those never count as stuck. */
const troubledMs = 200;

/** Consecutive checks without progress until liveness fails: a minute, at five seconds each. */
const patience = 12;

/**
 * Tells a stuck worker, which needs a restart, from one whose servers are unavailable. Stuck: jobs
 * wait, Redis and Postgres answer, and nothing is stored. It counts checks, so the time of a frozen
 * process does not count.
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

  /** For readiness: why the worker cannot fetch jobs. */
  get queueProblem(): string | undefined {
    return this.#queueProblem;
  }

  /** For readiness: why the worker cannot store events. */
  get databaseProblem(): string | undefined {
    return this.#databaseProblem;
  }

  /** For liveness: why the process needs a restart. Never because a server is unavailable. */
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

  /** Runs one check. Never rejects. */
  async runOnce(): Promise<void> {
    const { waitingJobs, pingDatabase, retrying, stored } = this.#sources;
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
    if (retrying()) this.#databaseProblem ??= 'Postgres cannot store events.';
    const progressed = stored() !== this.#stored;
    this.#stored = stored();
    this.#waiting = waiting ?? 0;
    const excused = this.#waiting === 0 || this.#databaseProblem !== undefined || progressed;
    this.#idleLooks = excused ? 0 : this.#idleLooks + 1;
  }

  /** Resolves with the pause before the next check, in ms; short until the servers answer. */
  async #look(): Promise<number> {
    await this.runOnce();
    const well = this.#queueProblem === undefined && this.#databaseProblem === undefined;
    return well ? this.#times.intervalMs : troubledMs;
  }
}
