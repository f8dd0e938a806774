import type { IRedisTransaction } from 'bullmq';
import type { ChainableCommander } from 'ioredis';
import type { RedisClient } from './redis.ts';

/*
 * What we use of BullMQ beyond its documentation; test/unit/quirks.test.ts names the version.
 * `keys/keys.ts` has the layout of its keys, which test/integration/queue/layout.test.ts checks.
 */

/** The signal that a job may be waiting. */
export const lookNow = { member: '0', score: 0 };

/** A pipeline as BullMQ uses it: with its scripts as methods, by name. */
export function asTransaction(pipeline: ChainableCommander): IRedisTransaction {
  const methods = pipeline as unknown as Record<string, (args: unknown[]) => unknown>;
  return Object.assign(pipeline as unknown as IRedisTransaction, {
    runCommand(this: IRedisTransaction, name: string, args: unknown[]): IRedisTransaction {
      methods[name]?.(args);
      return this;
    },
  });
}

/** A worker blocks on the duplicate of its client: on this one. */
export function blockOn(client: RedisClient, blocking: RedisClient): void {
  Object.assign(client, { duplicate: () => blocking });
}

/** The scripts that may reply with the next job: its hash, then its id. */
export const fetching: ReadonlySet<string> = new Set(['moveToActive', 'moveToFinished', 'moveToDelayed']);

/**
 * Replaces the data of the job in the reply of such a script, if there is one. Repairs damaged
 * options, which only a failing job needs.
 */
export function replaceData(reply: unknown, replace: (text: string) => string): unknown {
  const [hash] = Array.isArray(reply) ? (reply as unknown[]) : [];
  if (!Array.isArray(hash)) return reply;
  for (let place = 0; place < hash.length; place += 2) {
    const text = String(hash[place + 1]);
    if (hash[place] === 'data') hash[place + 1] = replace(text);
    if (hash[place] === 'opts' && !isJson(text)) hash[place + 1] = '{}';
  }
  return reply;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
