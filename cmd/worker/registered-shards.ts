import { Repeating } from '../../internal/kit/async/repeating.ts';
import { settledWithin } from '../../internal/kit/async/settled-within.ts';
import type { RedisAddress } from '../../internal/queue/redis.ts';
import type { Logger } from '../../internal/kit/telemetry/logger.ts';
import type { Lane } from './lane.ts';

/** Interval of reads of the registry, in ms. */
const lookMs = 5_000;

/** The same until the registry has been read once, in ms. */
const firstMs = 200;

/** Longest wait for a Redis' registry, in ms. */
const replyMs = 3_000;

export interface RegisteredShardsOptions {
  /** The addresses of every Redis, as in the lanes. */
  addresses: readonly RedisAddress[];
  /** Shards inside each Redis that the lanes already have. */
  inside: number;
  /** The first lane is that of the common queue. */
  lanes: readonly [Lane, ...Lane[]];
  logger: Logger;
}

/**
 * Opens the shards that the registry of a Redis names and this worker's `QUEUE_SHARDS` does not
 * cover: former ones, and those of ingest pods with a larger setting. They stay open until the
 * worker stops, since they cost little.
 */
export class RegisteredShards {
  readonly name = 'registered shards';
  readonly #options: RegisteredShardsOptions;
  /** The open shards by Redis. */
  readonly #open: readonly { address: RedisAddress; shards: Set<number> }[];
  readonly #looks = new Repeating(() => this.#look());

  constructor(options: RegisteredShardsOptions) {
    const { addresses, inside } = options;
    this.#options = options;
    this.#open = addresses.map((address) => ({ address, shards: new Set(Array(inside).keys()) }));
  }

  async start(): Promise<void> {
    this.#looks.start();
  }

  async stop(): Promise<void> {
    await this.#looks.stop();
  }

  /** Never rejects. */
  async #look(): Promise<number> {
    const { lanes, logger } = this.#options;
    let unread = false;
    for (const [index, { address, shards }] of this.#open.entries()) {
      const registered = await settledWithin(replyMs, lanes[0].otherShards(index));
      unread ||= registered === undefined;
      for (const shard of registered ?? []) {
        if (shards.has(shard)) continue;
        shards.add(shard);
        logger.info({ shard }, 'taking jobs of a shard that QUEUE_SHARDS does not cover');
        for (const lane of lanes) await lane.open(address, shard);
      }
    }
    return unread ? firstMs : lookMs;
  }
}
