import { Cluster, Redis, type RedisOptions } from 'ioredis';

/** A connection to Redis or to a Redis Cluster. */
export type RedisClient = Redis | Cluster;

/** Longest that a producer waits for one answer of Redis, in ms: with queueing, a 503 comes within 2 s (design, section 2). */
export const commandTimeout = 1_500;

/** What the two kinds of client set differently. */
type Behaviour = Pick<
  RedisOptions,
  'maxRetriesPerRequest' | 'connectTimeout' | 'commandTimeout' | 'autoResendUnfulfilledCommands'
> & { enableOfflineQueue: boolean };

/** For producers: fails fast. Nothing waits for a connection that is not there, and no command is sent twice. */
export function createProducerRedis(url: string): RedisClient {
  return create(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    connectTimeout: commandTimeout,
    commandTimeout,
  });
}

/** For consumers: BullMQ requires that commands wait for Redis to come back. */
export function createConsumerRedis(url: string): RedisClient {
  return create(url, { enableOfflineQueue: true, maxRetriesPerRequest: null });
}

function create(url: string, behaviour: Behaviour): RedisClient {
  const common = { ...behaviour, keepAlive: 10_000, noDelay: true };
  const nodes = url.split(',').map((node) => node.trim());
  if (nodes.length === 1) return new Redis(url, { ...common, lazyConnect: true, retryStrategy: reconnectDelay });
  const { username, password, protocol } = new URL(nodes[0] ?? url);
  return new Cluster(nodes, {
    lazyConnect: true,
    clusterRetryStrategy: reconnectDelay,
    enableOfflineQueue: behaviour.enableOfflineQueue,
    redisOptions: {
      ...common,
      ...(username && { username: decodeURIComponent(username) }),
      ...(password && { password: decodeURIComponent(password) }),
      ...(protocol === 'rediss:' && { tls: {} }),
    },
  });
}

/** In ms: soon after a short outage, and often enough to resume within a second after a long one. */
function reconnectDelay(attempt: number): number {
  return Math.min(attempt * 100, 1_000);
}

/**
 * Begins to connect. Resolves after the first attempt, whether it succeeded or not: the client goes on trying in the
 * background and reports to its `error` listeners.
 */
export async function connect(client: RedisClient): Promise<void> {
  if (client.status === 'wait') await client.connect().catch(() => undefined);
}

/** Closes the connection, whatever state it is in, and resolves when its socket is gone. Safe twice. */
export async function disconnect(client: RedisClient): Promise<void> {
  if (client.status === 'wait' || client.status === 'end') {
    client.disconnect();
    return;
  }
  const ended = new Promise<void>((resolve) => {
    client.once('end', () => resolve());
  });
  client.disconnect();
  await ended;
}
