import { hash } from 'node:crypto';
import { hashTags, slotOf } from './hash-tags.ts';

/** The part of a queue's name that holds its shard inside one Redis. */
const shardPart = /^[^+]*\+shard-(\d+)(?=\+|$)/;

/**
 * The queue of a shard inside one Redis. Shard 0 has the plain name. Also works for the overflow
 * lane: a shard of it is the lane of that shard.
 */
export function shardQueue(queueName: string, shard: number): string {
  if (shard === 0) return queueName;
  const [base = ''] = queueName.split('+');
  return `${base}+shard-${shard}${queueName.slice(base.length)}`;
}

/**
 * The prefix of all keys of a queue. BullMQ's scripts need them in one slot of a Redis Cluster,
 * which the braces ensure.
 */
export function keyPrefix(queueName: string): string {
  return `{${tagOf(queueName)}}`;
}

/** The Redis key of a part of the queue: `wait`, `delayed`, `active`, … (BullMQ's naming). */
export function queueKey(queueName: string, part: string): string {
  return `${keyPrefix(queueName)}:${queueName}:${part}`;
}

/**
 * A name for the end of a Redis key that depends on the choices of organizations and callers. It
 * hashes the parts with their bounds, so other parts never give the same name. Every such key must
 * use it. 43 characters.
 */
export function hashedName(...parts: readonly string[]): string {
  return hash('sha256', JSON.stringify(parts), 'base64url');
}

/** The slot of a queue's keys in a Redis Cluster. */
export function queueSlot(queueName: string): number {
  return slotOf(tagOf(queueName));
}

/**
 * The queue of the overflow lane (docs/design/overflow.md). `QUEUE_NAME` cannot hold a `+`, so no
 * other installation in the same Redis can have this queue.
 */
export function overflowQueue(queueName: string): string {
  return `${queueName}+overflow`;
}

/** The queue of events that wait for a database (docs/design/databases.md). */
export function waitingQueue(queueName: string, database: string): string {
  return `${queueName}+wait-${database}`;
}

/** The queue of events whose organizations are moving to another database. */
export function movingQueue(queueName: string): string {
  return `${queueName}+moving`;
}

/** The common queue of the shard that a queue belongs to. */
export function commonQueue(queueName: string): string {
  return shardPart.exec(queueName)?.[0] ?? queueName.split('+')[0] ?? queueName;
}

function tagOf(queueName: string): string {
  const shard = Number(shardPart.exec(queueName)?.[1] ?? 0);
  const tag = hashTags[shard];
  if (tag === undefined) throw new Error(`this release has no shard ${shard}`);
  return tag;
}
