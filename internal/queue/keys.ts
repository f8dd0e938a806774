/** Braces put all keys of the queue into one slot of a Redis Cluster, as BullMQ's scripts need. */
export const keyPrefix = '{runledger}';

/** The Redis key of a part of the queue: `wait`, `delayed`, `active`, … (BullMQ's naming). */
export function queueKey(queueName: string, part: string): string {
  return `${keyPrefix}:${queueName}:${part}`;
}

/**
 * The queue of the overflow lane (ARCHITECTURE.md, "The overflow lane"). `QUEUE_NAME` cannot hold a
 * `+`, so no other installation in the same Redis has this queue.
 */
export function overflowQueue(queueName: string): string {
  return `${queueName}+overflow`;
}

/** The queue of the events that wait for a database (ARCHITECTURE.md, "Several databases"). */
export function waitingQueue(queueName: string, database: string): string {
  return `${queueName}+wait-${database}`;
}

/** The queue of the events of organizations that move to another database just now. */
export function movingQueue(queueName: string): string {
  return `${queueName}+moving`;
}
