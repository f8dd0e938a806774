import { IdempotencyKeys, type Claim, type Keyed } from '../../internal/queue/keys/idempotency.ts';
import type { RedisClient } from '../../internal/queue/redis.ts';
import { RequestError } from '../../internal/kit/errors/request-error.ts';
import type { RedisServer } from './redis-server.ts';

/** Keys in one place of a Redis. */
export function keysIn(redis: RedisClient, more: { keptMs?: number; isFull?: () => boolean } = {}): IdempotencyKeys {
  const place = { redis, key: 'events' };
  return new IdempotencyKeys(() => [place], more.keptMs ?? 60_000, { open: 1 }, more.isFull);
}

/** Reserves a key that can be used. */
export async function claimed(keys: IdempotencyKeys, keyed: Keyed): Promise<Claim> {
  const claim = await keys.reserve(keyed);
  if (claim instanceof RequestError) throw claim;
  return claim;
}

/** The state of a key for people: the ids of its events, or why it cannot be used. */
export async function stateOf(
  keys: IdempotencyKeys,
  keyed: Keyed,
): Promise<{ ids: string[]; committed: boolean } | string> {
  const claim = await keys.reserve(keyed);
  if (claim instanceof RequestError) return claim.code;
  return { ids: claim.events.map(({ id }) => id), committed: claim.committed };
}

/** All hashes of idempotency keys. */
export function keyHashes(redis: RedisServer): Promise<string[]> {
  return redis.command('keys', '*idempotency:*:*') as Promise<string[]>;
}

/**
 * Leaves the keys as an ingest pod that died between the reservation and the acknowledgement of
 * Redis, with a lease of so many ms from now. Resolves with the number of keys.
 */
export async function underWay(server: RedisServer, ms = 60_000): Promise<number> {
  const names = await keyHashes(server);
  return server.use(async (redis) => {
    let keys = 0;
    for (const name of names) {
      for (const field of await redis.hkeysBuffer(name)) {
        const value = (await redis.hgetBuffer(name, field)) ?? Buffer.alloc(6);
        value.writeUIntBE(Date.now() + ms, 0, 6);
        await redis.hset(name, field, value);
        keys += 1;
      }
    }
    return keys;
  });
}
