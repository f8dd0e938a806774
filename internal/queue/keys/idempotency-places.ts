import { crc32 } from 'node:zlib';
import { Cluster } from 'ioredis';
import { slotOf, slots } from './hash-tags.ts';
import { queueKey } from './keys.ts';
import type { RedisClient } from '../redis.ts';
import type { ShardQueue } from '../shards/shard-registry.ts';

/** A place of idempotency keys: a slot of a Redis. */
export interface Place {
  readonly redis: RedisClient;
  /** The prefix of all names in the place. */
  readonly key: string;
}

export interface Places {
  all: readonly Place[];
  /** Where a key is: one place, or the same two for every pod. */
  placesOf: (name: string) => readonly [Place, Place?];
  /**
   * The place that has all keys, in the Redis of all jobs, which acknowledges a job alone.
   * Undefined if there is none.
   */
  placeOfAll: Place | undefined;
}

/** How many ranges of equal size the slots are divided into. */
const ranges = 32;

/**
 * A hash tag in each range of slots, by range. Keys with these tags spread evenly over the masters
 * of a Redis Cluster. A tag never changes, because keys may be in its slot.
 */
export const keyTags: readonly string[] = tagsByRange();

/** The range half of all slots away: with two masters or more, another one holds it. */
export function oppositeOf(range: number): number {
  return (range + ranges / 2) % ranges;
}

/** The range of a key, from its name. */
export function rangeOf(name: string): number {
  return crc32(Buffer.from(name, 'latin1')) % ranges;
}

/**
 * Where each key is, whatever the number of shards: every pod must look where another one wrote. In
 * one Redis, a key has one place. In a Redis Cluster, it has two masters, and keys spread over all
 * of them. With several Redis, the first two hold each key.
 */
export function keyPlaces(shards: readonly ShardQueue[], replicaAcks = 0): Places {
  const [first, other] = shards;
  if (first === undefined) throw new Error('the queue has no shard');
  // Shards inside one Redis differ in their queue names.
  const second = other?.queueName === first.queueName ? other : undefined;
  const inFirst = placesIn(first);
  const inSecond = placesIn(second ?? first);
  const [only] = inFirst;
  if (only !== undefined && second === undefined && inFirst.length === 1)
    return { all: inFirst, placesOf: () => [only], placeOfAll: replicaAcks === 0 ? only : undefined };
  const pairs = Array.from({ length: ranges }, (_, range): readonly [Place, Place] => {
    const opposite = second === undefined ? oppositeOf(range) : range;
    return [inFirst[range % inFirst.length] as Place, inSecond[opposite % inSecond.length] as Place];
  });
  const all = second === undefined ? inFirst : [...inFirst, ...inSecond];
  return { all, placesOf: (name) => pairs[rangeOf(name)] as readonly [Place, Place], placeOfAll: undefined };
}

function placesIn({ redis, queueName }: ShardQueue): Place[] {
  if (!(redis instanceof Cluster)) return [{ redis, key: queueKey(queueName, 'idempotency') }];
  return keyTags.map((tag) => ({ redis, key: `{${tag}}:${queueName}:idempotency` }));
}

/** Tries numbers in order, so that every release finds the same first tag in a range. */
function tagsByRange(): string[] {
  const tags = new Map<number, string>();
  for (let number = 0; tags.size < ranges; number += 1) {
    const tag = `runledger-key-${number}`;
    const range = Math.floor((slotOf(tag) * ranges) / slots);
    if (!tags.has(range)) tags.set(range, tag);
  }
  return Array.from({ length: ranges }, (_, range) => tags.get(range) ?? '');
}
