import { setTimeout as sleep } from 'node:timers/promises';

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

/** Between two looks while something is not well, in ms. None of those counts against the worker. */
const troubledMs = 200;

/** Looks in a row without progress after which a restart is asked for: a minute, with five seconds between them. */
const patience = 12;

/**
 * Tells a worker that is stuck from one that cannot work: only the first is mended by a restart. Stuck means that jobs
 * wait, Redis and Postgres are well, and nothing is stored. Looks are counted, not seconds, so that the time during
 * which a process was frozen does not count.
 */
export class ProgressWatch {
  readonly name = 'progress watch';
  readonly #sources: ProgressSources;
  readonly #times: ProgressTimes;
  #queueProblem: string | undefined = 'Redis has not been asked yet.';
  #databaseProblem: string | undefined = 'Postgres has not been asked yet.';
  #idleLooks = 0;
  #stored = 0;
  #waiting = 0;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> = Promise.resolve();
  #stopped = true;

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

  /** For liveness: why this process should be restarted. Never because Redis or Postgres is away. */
  get stuck(): string | undefined {
    if (this.#idleLooks < patience) return undefined;
    const seconds = Math.round((this.#idleLooks * this.#times.intervalMs) / 1_000);
    return `${this.#waiting} jobs wait and nothing was stored for ${seconds} s, though Redis and Postgres are well.`;
  }

  async start(): Promise<void> {
    if (!this.#stopped) return Promise.resolve();
    this.#stopped = false;
    this.#looking = this.#loop();
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#looking;
  }

  /** Takes one look now. Never rejects. */
  async runOnce(): Promise<void> {
    const { waitingJobs, pingDatabase, holding, stored } = this.#sources;
    const [waiting, answered] = await Promise.all([
      this.#inTime(waitingJobs()),
      this.#inTime(pingDatabase().then(() => true)),
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

  async #loop(): Promise<void> {
    await this.runOnce();
    if (this.#stopped) return;
    // A worker that starts, or whose servers come back, is to be ready soon.
    const well = this.#queueProblem === undefined && this.#databaseProblem === undefined;
    this.#timer = setTimeout(
      () => {
        this.#looking = this.#loop();
      },
      well ? this.#times.intervalMs : troubledMs,
    );
  }

  /** The answer; undefined when it is an error, or late. */
  async #inTime<T>(answer: Promise<T>): Promise<T | undefined> {
    const late = new AbortController();
    const timer = sleep(this.#times.answerMs, undefined, { signal: late.signal }).catch(() => undefined);
    const result = await Promise.race([answer.catch(() => undefined), timer]);
    late.abort();
    return result ?? undefined;
  }
}
