import { setTimeout as sleep } from 'node:timers/promises';
import { Backoff, type BackoffOptions } from '../async/backoff.ts';
import type { ClusterAccess, ConnectToCluster } from './cluster-access.ts';
import type { FollowTimes } from './follow.ts';

export interface SupervisionTimes extends FollowTimes {
  /** Interval of full lists, in ms. */
  readonly relistMs: number;
  /** Delay from a change to its effect, in ms. Changes during the delay share one. */
  readonly settleMs: number;
  readonly backoff: BackoffOptions;
}

export const defaultTimes: SupervisionTimes = {
  relistMs: 300_000,
  listTimeoutMs: 30_000,
  idleMs: 30_000,
  shortestWatchMs: 1000,
  settleMs: 50,
  backoff: { firstMs: 1000, longestMs: 30_000 },
};

export interface SupervisionOptions {
  readonly connect: ConnectToCluster;
  readonly times: Pick<SupervisionTimes, 'relistMs' | 'backoff'>;
  /** Lists and watches until `end` is aborted. Rejects after any error. */
  readonly attempt: (access: ClusterAccess, end: AbortSignal) => Promise<void>;
  /** Called after each failed attempt, with the pause before the next one, in ms. */
  readonly onFailure: (error: unknown, pauseMs: number) => void;
}

/**
 * Repeats attempts to follow objects of a cluster. Each attempt opens its own connection, lists and
 * watches. It ends when the next full list is due or after an error; then a pause follows.
 */
export class Supervision {
  readonly #options: SupervisionOptions;
  readonly #backoff: Backoff;
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;

  constructor(options: SupervisionOptions) {
    this.#options = options;
    this.#backoff = new Backoff(options.times.backoff);
  }

  /** Starts the first attempt. Safe twice. */
  start(): void {
    this.#running ??= this.#supervise(this.#stopping.signal);
  }

  /** Ends the attempt at once. Safe twice, and before `start`. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #supervise(stopping: AbortSignal): Promise<void> {
    const { times, onFailure } = this.#options;
    while (!stopping.aborted) {
      const began = performance.now();
      try {
        await this.#attempt(stopping);
      } catch (error) {
        if (stopping.aborted) return;
        // The attempt ran for long, so its failure counts as the first.
        if (performance.now() - began > times.backoff.longestMs) this.#backoff.reset();
        const pauseMs = Math.round(this.#backoff.next());
        onFailure(error, pauseMs);
        await sleep(pauseMs, undefined, { signal: stopping }).catch(() => undefined);
      }
    }
  }

  /** Connects, lists and watches. Resolves when the next list is due. */
  async #attempt(stopping: AbortSignal): Promise<void> {
    const { connect, times, attempt } = this.#options;
    const access = await connect();
    const end = new AbortController();
    const abort = (): void => end.abort();
    const relist = setTimeout(abort, times.relistMs);
    stopping.addEventListener('abort', abort);
    try {
      stopping.throwIfAborted();
      await attempt(access, end.signal);
    } finally {
      clearTimeout(relist);
      stopping.removeEventListener('abort', abort);
      end.abort();
      await access.close();
    }
  }
}
