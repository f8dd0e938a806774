import { within } from '../../kit/async/within.ts';
import type { Logger } from '../../kit/telemetry/logger.ts';
import type { ShardMetrics } from './shard-metrics.ts';
import { notChecked, type Rejection } from '../admission/admission-control.ts';
import type { BacklogGuard } from '../admission/backlog-guard.ts';
import type { ShardQueue, ShardRegistry } from './shard-registry.ts';

/** How long a caller waits at most, in ms; the 503 of a slow Redis comes within 2 s. */
export const answerWithinMs = 1_800;

/** How long a failed shard is avoided, in ms, if another one takes events. */
const avoidMs = 30_000;

/** A shard of the queue with its checks. No two share a client. */
export interface Shard extends ShardQueue {
  guard: Pick<BacklogGuard, 'rejection' | 'overflowFull' | 'keysFull' | 'admittedOnce'>;
}

/** A shard, and when it may be used again, in ms of the monotonic clock. */
interface Place {
  shard: Shard;
  index: number;
  worked: boolean;
  avoidUntil: number;
}

export interface ShardsOptions {
  shards: readonly Shard[];
  /** Undefined with one shard, which needs no registration. */
  registry: Pick<ShardRegistry, 'has'> | undefined;
  metrics: ShardMetrics;
  logger: Logger;
  /**
   * How long to wait for a shard's reply while another one takes events, in ms. Two replies fit
   * into the time of an answer.
   */
  replyMs: number;
  /** Index of the shard that this pod prefers. Default: random, so that pods spread over them. */
  home?: number;
}

/**
 * The shards of the queue. Any event may go to any shard. A pod keeps to one of them so that
 * commits stay large, and leaves it while it fails, is full or does not answer.
 */
export class Shards {
  readonly #options: ShardsOptions;
  /** In this pod's order of preference. */
  readonly #places: readonly Place[];
  #last: Place | undefined;
  #admittedOnce = false;

  constructor(options: ShardsOptions) {
    this.#options = options;
    const { shards, home = Math.floor(Math.random() * shards.length) } = options;
    const places = shards.map((shard, index) => ({ shard, index, worked: false, avoidUntil: -Infinity }));
    this.#places = [...places.slice(home), ...places.slice(0, home)];
  }

  get all(): readonly Shard[] {
    return this.#options.shards;
  }

  /** Undefined while any shard admits events. */
  get rejection(): Rejection | undefined {
    if (this.#places.some((place) => this.#takes(place))) {
      this.#admittedOnce = true;
      return undefined;
    }
    return this.#places.find(({ shard }) => shard.guard.rejection)?.shard.guard.rejection ?? notRegistered;
  }

  /** True while the overflow lane of the shard in use takes no more events. */
  get overflowFull(): boolean {
    return (this.#next() ?? this.#places[0])?.shard.guard.overflowFull === true;
  }

  /** True while a shard that may hold idempotency keys takes no new ones. */
  get keysFull(): boolean {
    return this.#options.shards.some(({ guard }) => guard.keysFull);
  }

  /** True once events have been admitted for the first time. */
  get admittedOnce(): boolean {
    return (
      this.#admittedOnce || this.#places.some((place) => place.shard.guard.admittedOnce && this.#isRegistered(place))
    );
  }

  /** True if events can go to the shard at this index now. */
  admits(index: number): boolean {
    return this.#places.some((place) => place.index === index && this.#takes(place));
  }

  /**
   * Adds events to the shard in use, or to another one if that fails or does not reply in time.
   * Both may then have them; the store ignores the second. Rejects with the error of the last shard
   * tried. Stops once callers have got their 503.
   */
  async put(events: number, work: (index: number) => Promise<void>): Promise<void> {
    const until = performance.now() + answerWithinMs;
    const tried: Place[] = [];
    for (;;) {
      const place = this.#next(tried) ?? this.#places.find((each) => this.#isRegistered(each));
      if (place === undefined) throw new Error(notRegistered.detail);
      tried.push(place);
      try {
        await this.#attempt(place, tried, work);
        this.#use(place);
        return;
      } catch (error) {
        place.avoidUntil = performance.now() + avoidMs;
        if (this.#next(tried) === undefined || performance.now() >= until) throw error;
        this.#options.metrics.repeated.inc(events);
        this.#options.logger.warn({ error, events, shard: place.index }, 'repeating a commit in another shard');
      }
    }
  }

  #attempt(place: Place, tried: readonly Place[], work: (index: number) => Promise<void>): Promise<void> {
    const attempt = work(place.index);
    return this.#next(tried) === undefined ? attempt : within(this.#options.replyMs, attempt);
  }

  #use(place: Place): void {
    if (this.#last !== undefined && this.#last !== place) this.#options.metrics.moves.inc();
    this.#last = place;
  }

  /** The best untried shard that takes events: one that has not failed lately, if any. */
  #next(tried: readonly Place[] = []): Place | undefined {
    const now = performance.now();
    let second: Place | undefined;
    for (const place of this.#places) {
      const takes = this.#takes(place);
      if (!takes && place.worked) place.avoidUntil = now + avoidMs;
      place.worked ||= takes;
      if (!takes || tried.includes(place)) continue;
      if (now >= place.avoidUntil) return place;
      second ??= place;
    }
    return second;
  }

  #takes(place: Place): boolean {
    return place.shard.guard.rejection === undefined && this.#isRegistered(place);
  }

  #isRegistered({ shard }: Place): boolean {
    const { registry } = this.#options;
    return registry === undefined || registry.has(shard.redis);
  }
}

const notRegistered: Rejection = {
  ...notChecked,
  detail: 'The shards of the queue are not registered yet: each must answer once.',
};
