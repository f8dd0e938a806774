import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { endedForGood, withWholePipelines } from './ioredis-quirks.ts';

/** A connection to Redis or to a Redis Cluster. */
export type RedisClient = Redis | Cluster;

/** A Redis whose master the Sentinels name. */
export interface SentinelAddress {
  /** Its host is the name of the master; user, password, database and TLS are the master's. */
  url: string;
  nodes: readonly { host: string; port: number }[];
  /** The Sentinels' user name. */
  username: string | undefined;
  password: string | undefined;
}

/** A URL, several with commas (a Redis Cluster), a Unix socket, or Sentinels. */
export type RedisAddress = string | SentinelAddress;

/** How long a producer waits for one reply of Redis, in ms; the 503 comes within 2 s. */
export const commandTimeout = 1_500;

/**
 * Longest silence of Redis that a consumer accepts, in ms: longer than BullMQ's longest blocking
 * command (10 s).
 */
const consumerSilence = 15_000;

/**
 * Interval of checks while Redis loads its data, in ms. The server's own estimate was seconds too
 * long.
 */
const loadingInterval = 250;

/** The options in which the two kinds of client differ. */
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
 * A client for producers, which fails fast: no command waits for a connection, and none is sent
 * twice. Closes a silent connection, since TCP would take minutes. Not connected until {@link
 * connect}.
 */
export function createProducerRedis(address: RedisAddress): RedisClient {
  return create(address, {
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
 * A client for consumers: commands wait for Redis, as BullMQ requires. Connects immediately,
 * because BullMQ never recovers if its own first attempt fails.
 */
export function createConsumerRedis(address: RedisAddress): RedisClient {
  return create(address, {
    enableOfflineQueue: true,
    maxRetriesPerRequest: null,
    socketTimeout: consumerSilence,
    lazyConnect: false,
  });
}

function create(address: RedisAddress, { lazyConnect, ...behaviour }: Behaviour): RedisClient {
  const common = { ...behaviour, keepAlive: 10_000, noDelay: true, maxLoadingRetryTime: loadingInterval };
  const connecting = { lazyConnect: lazyConnect ?? false };
  const single = { ...common, ...connecting, retryStrategy: reconnectDelay, reconnectOnError: isReadOnly };
  if (typeof address !== 'string') return onItsDatabase(new Redis({ ...single, ...sentinelOptions(address) }));
  const url = address;
  const nodes = url.split(',').map((node) => node.trim());
  if (nodes.length === 1) return onItsDatabase(new Redis(url, single));
  const { username, password, protocol } = new URL(nodes[0] ?? url);
  const cluster = new Cluster(nodes, {
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
  return endedForGood(withWholePipelines(cluster));
}

/**
 * Asks the Sentinels for the master at each connection. The option `failoverDetector` stays off:
 * its message during a reconnect would end the client for good.
 */
function sentinelOptions({ url, nodes, username, password }: SentinelAddress) {
  const master = new URL(url);
  const database = Number(master.pathname.slice(1));
  return {
    sentinels: [...nodes],
    name: master.hostname,
    db: database,
    ...(master.username && { username: decodeURIComponent(master.username) }),
    ...(master.password && { password: decodeURIComponent(master.password) }),
    ...(username !== undefined && { sentinelUsername: username }),
    ...(password !== undefined && { sentinelPassword: password }),
    ...(master.protocol === 'rediss:' && { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true }),
    connectTimeout: commandTimeout,
    sentinelCommandTimeout: commandTimeout,
    sentinelRetryStrategy: reconnectDelay,
  };
}

/**
 * A master that became a replica keeps its connections. Only a new connection finds the current
 * master.
 */
function isReadOnly({ message }: Error): boolean {
  return message.includes('READONLY');
}

/**
 * When Redis refuses the database of the address, ioredis would continue in database 0, which may
 * belong to another installation.
 */
function onItsDatabase(client: Redis): Redis {
  return client.on('error', (error: Error & { command?: { name: string } }) => {
    if (error.command?.name === 'select') client.disconnect(true);
  });
}

/** The address for people, without user and password. */
export function labelOf(address: RedisAddress): string {
  const url = typeof address === 'string' ? address : address.url;
  if (url.startsWith('/')) return url;
  const nodes = url.split(',').map((node) => new URL(node.trim()));
  return nodes.map(({ host, pathname }) => `${host}${pathname.replace(/^\/0?$/, '')}`).join(',');
}

/** Reconnects to the server that the address now leads to. A cluster client does that itself. */
export function reconnect(client: RedisClient): void {
  if (client instanceof Redis) client.disconnect(true);
}

/** Delay in ms: short after a short outage, at most a second after a long one. */
function reconnectDelay(attempt: number): number {
  return Math.min(attempt * 100, 1_000);
}
