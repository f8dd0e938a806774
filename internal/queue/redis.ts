import { Cluster, Redis, type RedisOptions } from 'ioredis';

/** A connection to Redis or to a Redis Cluster. */
export type RedisClient = Redis | Cluster;

/**
 * Longest wait of a producer for one answer of Redis, in ms; with queueing, a 503 comes within 2 s.
 */
export const commandTimeout = 1_500;

/**
 * Longest silence of Redis that a consumer bears, in ms: more than BullMQ's longest blocking
 * command (10 s).
 */
const consumerSilence = 15_000;

/**
 * Between two looks at a Redis that is loading its data, in ms. Its own estimate of the time left,
 * which the client would wait for, has been seconds too long.
 */
const loadingInterval = 250;

/** What the two kinds of client set differently. */
type Behaviour = Pick<
  RedisOptions,
  | 'maxRetriesPerRequest'
  | 'connectTimeout'
  | 'commandTimeout'
  | 'socketTimeout'
  | 'autoResendUnfulfilledCommands'
  | 'lazyConnect'
> & { enableOfflineQueue: boolean };

/**
 * For producers: fails fast. Nothing waits for a connection that is not there, and no command is
 * sent twice. A connection that is up and silent (a cut network) is given up: TCP would take
 * minutes. Not connected until {@link connect}.
 */
export function createProducerRedis(url: string): RedisClient {
  return create(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    connectTimeout: commandTimeout,
    commandTimeout,
    socketTimeout: commandTimeout,
    lazyConnect: true,
  });
}

/**
 * For consumers: BullMQ requires that commands wait for Redis to come back. Connects at once:
 * BullMQ gives up for good on a client whose first attempt it has to make itself, when that fails.
 */
export function createConsumerRedis(url: string): RedisClient {
  return create(url, {
    enableOfflineQueue: true,
    maxRetriesPerRequest: null,
    socketTimeout: consumerSilence,
    lazyConnect: false,
  });
}

function create(url: string, { lazyConnect, ...behaviour }: Behaviour): RedisClient {
  const common = { ...behaviour, keepAlive: 10_000, noDelay: true, maxLoadingRetryTime: loadingInterval };
  const nodes = url.split(',').map((node) => node.trim());
  const connecting = { lazyConnect: lazyConnect ?? false };
  if (nodes.length === 1) {
    return onItsDatabase(
      new Redis(url, { ...common, ...connecting, retryStrategy: reconnectDelay, reconnectOnError: isReadOnly }),
    );
  }
  const { username, password, protocol } = new URL(nodes[0] ?? url);
  return new Cluster(nodes, {
    ...connecting,
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

/**
 * A master that has become a replica keeps its connections: only a new one finds who is the master
 * behind the address now.
 */
function isReadOnly({ message }: Error): boolean {
  return message.includes('READONLY');
}

/**
 * Where Redis refuses the database that the address names, ioredis would go on in database 0, which
 * may be another's.
 */
function onItsDatabase(client: Redis): Redis {
  return client.on('error', (error: Error & { command?: { name: string } }) => {
    if (error.command?.name === 'select') client.disconnect(true);
  });
}

/**
 * Leaves the server for whoever is behind the address now. A cluster's client learns that by
 * itself.
 */
export function reconnect(client: RedisClient): void {
  if (client instanceof Redis) client.disconnect(true);
}

/** The servers that hold data: the one, or the masters of the cluster. */
export function mastersOf(client: RedisClient): Redis[] {
  return client instanceof Cluster ? client.nodes('master') : [client];
}

/**
 * In ms: soon after a short outage, and often enough to resume within a second after a long one.
 */
function reconnectDelay(attempt: number): number {
  return Math.min(attempt * 100, 1_000);
}

/**
 * Begins to connect. Resolves after the first attempt, whether it succeeded or not: the client goes
 * on trying in the background and reports to its `error` listeners.
 */
export async function connect(client: RedisClient): Promise<void> {
  if (client.status !== 'wait') return;
  // A cluster's connect() settles neither way when the nodes are there and the cluster does not
  // work.
  const closed = new Promise<void>((resolve) => {
    client.once('close', () => resolve());
  });
  await Promise.race([client.connect().catch(() => undefined), closed]);
}

/**
 * Closes the connection, whatever state it is in: commands under way reject, its socket is gone
 * then. Safe twice.
 */
export async function disconnect(client: RedisClient): Promise<void> {
  if (client.status === 'end') return;
  const ended = new Promise<void>((resolve) => {
    client.once('end', () => resolve());
  });
  const idle = client.status === 'reconnecting';
  client.disconnect();
  if (idle) endIdle(client);
  await ended;
}

/**
 * Between two attempts to connect, ioredis' disconnect() only cancels the next one: commands that
 * wait for it would do so forever, and `end` never come. One more attempt ends the client properly:
 * a single server's is taken back before it begins, a cluster's has to run.
 */
function endIdle(client: RedisClient): void {
  const attempt = client.connect();
  if (client instanceof Redis) client.disconnect();
  attempt.then(
    () => client.disconnect(),
    () => undefined,
  );
}
