import type { Redis } from 'ioredis';
import { masterOf } from './ioredis-quirks.ts';
import type { RedisClient } from './redis.ts';

/** Learns of changes of the connections. */
export interface ConnectionListener {
  /** A connection to a server was lost, or an attempt to connect failed. */
  onLost(): void;
  /** A connection was made, perhaps to another server than before. */
  onMade(): void;
}

/**
 * Tracks the connections of a client; for a Redis Cluster, those to the master of a slot. Ends with
 * the client.
 */
export class ConnectionState {
  #changes = 0;
  #error: { error: Error; since: number } | undefined;

  constructor(client: RedisClient, listener: ConnectionListener, slot: number) {
    const lost = (): void => {
      this.#changes += 1;
      listener.onLost();
    };
    const made = (): void => {
      lost();
      this.#error = undefined;
      listener.onMade();
    };
    client.on('close', lost).on('ready', made);
    client.on('-node', (node: Redis) => {
      if (mayServe(client, node, slot)) lost();
    });
    // A new node of a cluster is used immediately, without a check. Before the cluster is ready it
    // takes no commands.
    client.on('+node', (node: Redis) => {
      if (!mayServe(client, node, slot)) return;
      if (client.status === 'ready') made();
      else lost();
    });
    client.on('error', (error: Error) => {
      if (this.#error?.since !== this.#changes) this.#error = { error, since: this.#changes };
    });
  }

  /** Number of lost and new connections. While it stays the same, so does the server. */
  get changes(): number {
    return this.#changes;
  }

  /** Why the connection was lost: the first error after the loss. Later errors follow from it. */
  get error(): Error | undefined {
    return this.#error?.error;
  }
}

/** False if another node is the master of the slot. */
function mayServe(client: RedisClient, { options }: Redis, slot: number): boolean {
  const master = masterOf(client, slot);
  return master === undefined || master === `${options.host}:${options.port}`;
}
