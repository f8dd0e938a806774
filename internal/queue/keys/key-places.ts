import { IdempotencyKeys, nameOf, type Keys } from './idempotency.ts';
import { keyTags, oppositeOf, rangeOf } from './key-tags.ts';
import { queueKey } from './keys.ts';
import { MirroredKeys, placeReplyMs } from './mirrored-keys.ts';
import type { ShardQueue } from '../shards/shard-registry.ts';
import { SpreadKeys } from './spread-keys.ts';

/**
 * Where idempotency keys are: in the first two shards, spread over all slots of a Redis Cluster, or
 * in both while pods change from one to the other (docs/design/idempotency.md).
 */
export type KeyPlaces = 'first' | 'both' | 'spread';

/** The keys of a queue in these shards. `keptMs`: how long a key is remembered. */
export function createKeys(shards: readonly ShardQueue[], places: KeyPlaces, keptMs: number): Keys {
  const [first, second] = shards;
  if (first === undefined) throw new Error('the queue has no shard');
  if (places === 'spread') return spreadKeys(first, keptMs);
  const firstShards =
    second === undefined ? keysOf(first, keptMs) : mirrored(keysOf(first, keptMs), keysOf(second, keptMs));
  // Two places may each take their time.
  return places === 'first' ? firstShards : new MirroredKeys(firstShards, spreadKeys(first, keptMs), 2 * placeReplyMs);
}

function mirrored(first: Keys, second: Keys): Keys {
  return new MirroredKeys(first, second);
}

function keysOf({ redis, queueName }: ShardQueue, keptMs: number): Keys {
  return new IdempotencyKeys(redis, queueKey(queueName, 'idempotency'), keptMs);
}

/** Each key has two places, on different masters. They do not depend on the number of shards. */
function spreadKeys({ redis, queueName }: ShardQueue, keptMs: number): Keys {
  const places = keyTags.map((tag) => new IdempotencyKeys(redis, `{${tag}}:${queueName}:idempotency`, keptMs));
  const pairs = places.map((home, range) => new MirroredKeys(home, places[oppositeOf(range)] ?? home));
  const [any] = pairs;
  if (any === undefined) throw new Error('there is no range of slots');
  return new SpreadKeys((keyed) => pairs[rangeOf(nameOf(keyed))] ?? any);
}
