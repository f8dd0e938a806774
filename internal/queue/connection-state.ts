import type { RedisClient } from './redis.ts';

/** Hears of changes of the connections. */
export interface ConnectionListener {
  /** A connection to a server is gone. Also called for an attempt to connect that fails. */
  onLost(): void;
  /** A connection is there; the server behind it may be another than before. */
  onMade(): void;
}

/**
 * Follows a client's connections, of a Redis Cluster those to each of its nodes. Ends with the
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
    // Nobody has looked at a cluster's new node, which is used at once. Before the cluster is ready
    // it takes no commands.
    client.on('+node', () => (client.status === 'ready' ? made() : lost()));
    client.on('error', (error: Error) => {
      if (this.#error?.since !== this.#changes) this.#error = { error, since: this.#changes };
    });
  }

  /** Connections lost and made so far: while it stays the same, so does the server. */
  get changes(): number {
    return this.#changes;
  }

  /**
   * Why there is no connection: the first error since the last one was lost, which later ones
   * follow from.
   */
  get error(): Error | undefined {
    return this.#error?.error;
  }
}
