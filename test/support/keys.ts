import { IdempotencyKeys, type Claim, type Keyed } from '../../internal/queue/keys/idempotency.ts';
import type { RedisClient } from '../../internal/queue/redis.ts';
import { RequestError } from '../../internal/kit/errors/request-error.ts';
import type { RedisServer } from './redis-server.ts';

/** Keys in one place of a Redis. */
export function keysIn(redis: RedisClient, more: { keptMs?: number; isFull?: () => boolean } = {}): IdempotencyKeys {
  const place = { redis, key: 'events' };
  return new IdempotencyKeys({ all: [place], placesOf: () => [place], keptMs: 60_000, callers: { open: 1 }, ...more });
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
 * Bytes of the lease at the end of a key that is not recorded; without it, a key is longer by 4 n.
 */
const leaseBytes = 6;
const isLeased = (value: Buffer): boolean => value.length % 4 === leaseBytes % 4;

/**
 * Leaves the keys as an ingest pod that died between the reservation and the acknowledgement of
 * Redis, with a lease of so many ms from now. Resolves with the number of keys.
 */
export async function underWay(
  server: RedisServer,
  ms = 60_000,
  concerns: (value: Buffer) => boolean = () => true,
): Promise<number> {
  const names = await keyHashes(server);
  return server.use(async (redis) => {
    let keys = 0;
    for (const name of names) {
      for (const field of await redis.hkeysBuffer(name)) {
        const value = (await redis.hgetBuffer(name, field)) ?? Buffer.alloc(0);
        if (!concerns(value)) continue;
        const lease = Buffer.alloc(leaseBytes);
        lease.writeUIntBE(Date.now() + ms, 0, leaseBytes);
        const body = isLeased(value) ? value.subarray(0, -leaseBytes) : value;
        await redis.hset(name, field, Buffer.concat([body, lease]));
        keys += 1;
      }
    }
    return keys;
  });
}

/** Lets the leases of all keys and runs end that nobody confirmed, as time does. */
export async function leasesEnd(server: RedisServer): Promise<void> {
  const runs = (await server.command('keys', '*open-run:*')) as string[];
  for (const run of runs) {
    const [opening, ending] = (await server.command('hmget', run, 'opening', 'ending')) as (string | null)[];
    const ended = (lease?: string | null): string => String(Math.min(Number(lease ?? 0), Date.now() - 1));
    await server.command('hset', run, 'opening', ended(opening), 'ending', ended(ending));
  }
  await underWay(server, -1, isLeased);
}
