import { setTimeout as sleep } from 'node:timers/promises';
import { Backoff, type BackoffOptions } from '../kit/async/backoff.ts';
import type { ClusterAccess, ConnectToCluster } from './cluster-access.ts';
import type { FollowTimes } from './follow.ts';

export interface SupervisionTimes extends FollowTimes {
  /** Interval of full lists, in ms. */
  readonly relistMs: number;
  /** How long an attempt continues once the next one has listed, in ms: its watch may be behind. */
  readonly overlapMs: number;
  /** Delay from a change to its effect, in ms. Changes within the delay share one effect. */
  readonly settleMs: number;
  readonly backoff: BackoffOptions;
}

export const defaultTimes: SupervisionTimes = {
  relistMs: 300_000,
  overlapMs: 5_000,
  listTimeoutMs: 30_000,
  idleMs: 30_000,
  shortestWatchMs: 1000,
  settleMs: 50,
  backoff: { firstMs: 1000, longestMs: 30_000 },
};

export interface SupervisionOptions {
  readonly connect: ConnectToCluster;
  readonly times: Pick<SupervisionTimes, 'relistMs' | 'overlapMs' | 'backoff'>;
  /**
   * Lists and watches until `end` is aborted. Rejects after any error. Calls `listed` once all
   * lists are read, which resolves when the previous attempt has ended and this one counts.
   */
  readonly attempt: (access: ClusterAccess, end: AbortSignal, listed: () => Promise<void>) => Promise<void>;
  /** Called after each failed attempt, with the pause before the next one, in ms. */
  readonly onFailure: (error: unknown, pauseMs: number) => void;
}

/** An attempt under way. */
interface Attempt {
  readonly listed: Promise<void>;
  /** Resolves with the error that ended it, or with undefined after `end`. Never rejects. */
  readonly over: Promise<unknown>;
  /** Makes it the one that counts. */
  readonly takeOver: () => void;
  readonly end: () => Promise<unknown>;
}

/**
 * Repeats attempts to follow objects of a cluster. Each attempt opens its own connection, lists and
 * watches. The next one lists while it still watches, so no change between two lists is missed, not
 * even that of an object deleted soon after. After an error a pause follows.
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

  /** Starts the first attempt. Safe to repeat. */
  start(): void {
    this.#running ??= this.#supervise(this.#stopping.signal);
  }

  /** Ends the attempts at once. Safe to repeat, and before `start`. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #supervise(stopping: AbortSignal): Promise<void> {
    const { times, onFailure } = this.#options;
    const pause = (ms: number): Promise<void> => sleep(ms, undefined, { signal: stopping }).catch(() => undefined);
    let current: Attempt | undefined;
    while (!stopping.aborted) {
      const began = performance.now();
      const next = this.#begin(stopping);
      const over = next.over.then(() => 'over' as const);
      const isListed = (await Promise.race([over, next.listed])) !== 'over';
      if (isListed && current !== undefined) await Promise.race([over, pause(times.overlapMs)]);
      if (isListed) {
        await current?.end();
        current = next;
        next.takeOver();
        if ((await Promise.race([over, pause(times.relistMs)])) !== 'over') continue;
      }
      const error = await next.over;
      // An attempt that did not list leaves its predecessor alone.
      if (isListed) current = undefined;
      if (stopping.aborted) break;
      // The attempt ran for long, so its failure counts as the first.
      if (performance.now() - began > times.backoff.longestMs) this.#backoff.reset();
      const pauseMs = Math.round(this.#backoff.next());
      onFailure(error, pauseMs);
      await pause(pauseMs);
    }
    await current?.end();
  }

  /** Connects, lists and watches. */
  #begin(stopping: AbortSignal): Attempt {
    const { connect, attempt } = this.#options;
    const ending = new AbortController();
    const end = AbortSignal.any([stopping, ending.signal]);
    const listed = Promise.withResolvers<void>();
    const counts = Promise.withResolvers<void>();
    const run = async (): Promise<void> => {
      const access = await connect();
      try {
        end.throwIfAborted();
        await attempt(access, end, () => {
          listed.resolve();
          return counts.promise;
        });
      } finally {
        ending.abort();
        await access.close();
      }
    };
    const over = run().then(
      () => undefined,
      (error: unknown) => error,
    );
    return {
      listed: listed.promise,
      over,
      takeOver: () => counts.resolve(),
      end: () => {
        ending.abort();
        return over;
      },
    };
  }
}
