import type { RedisClient } from './redis.ts';

/** Receives changes of the connections. */
export interface ConnectionListener {
  /** A connection to a server was lost, or an attempt to connect failed. */
  onLost(): void;
  /** A connection was made, perhaps to another server than before. */
  onMade(): void;
}

/**
 * Follows the connections of a client; for a Redis Cluster, those to each node. Ends with the
 * client.
 */
export class ConnectionState {
  #changes = 0;
  #error: { error: Error; since: number } | undefined;

  constructor(client: RedisClient, listener: ConnectionListener) {
    const lost = (): void => {
      this.#changes += 1;
      listener.onLost();
    };
    const made = (): void => {
      lost();
      this.#error = undefined;
      listener.onMade();
    };
    client.on('close', lost).on('-node', lost).on('ready', made);
    // A new node of a cluster is used at once and is not checked. Before the cluster is ready it
    // takes no commands.
    client.on('+node', () => (client.status === 'ready' ? made() : lost()));
    client.on('error', (error: Error) => {
      if (this.#error?.since !== this.#changes) this.#error = { error, since: this.#changes };
    });
  }

  /** Number of lost and made connections. While it stays the same, so does the server. */
  get changes(): number {
    return this.#changes;
  }

  /**
   * The reason for the lost connection: the first error after it. Later errors follow from that
   * one.
   */
  get error(): Error | undefined {
    return this.#error?.error;
  }
}
