import { Cluster, Redis, type Command } from 'ioredis';
import { settledWithin } from '../kit/async/settled-within.ts';

/*
 * What we use of ioredis beyond its documentation, and around its faults; test/unit/quirks.test.ts
 * names the version.
 */

/** How long to wait for the end of a client, in ms. ioredis itself cuts a connection after 2 s. */
const endMs = 5_000;

/** The error for a command without a connection. */
const closed = 'Connection is closed.';

/**
 * True for an error of a socket, or of a command on a lost connection, which names no system call.
 */
export function isConnectionError(error: Error): boolean {
  return 'syscall' in error || /Connection is closed|Socket timeout|connect ETIMEDOUT/.test(error.message);
}

/** The address of a slot's master in a Redis Cluster, `host:port`, as far as the client knows. */
export function masterOf(client: Redis | Cluster, slot: number): string | undefined {
  return client instanceof Cluster ? client.slots[slot]?.[0] : undefined;
}

/** Where a pipeline of a cluster client goes: the node of its first command, once that is known. */
interface Destination {
  slot: number;
  redis?: Redis | undefined;
}

/**
 * Sends all commands of a pipeline to one node, or refuses all. ioredis decides for each: while a
 * node is being connected or replaced, it may refuse the first command and take the second, which
 * is then in the queue of its connection, but never on the wire. Each later reply of that
 * connection would be taken for that of another command, and a 201 could follow from it.
 */
export function withWholePipelines(cluster: Cluster): Cluster {
  const send = cluster.sendCommand.bind(cluster);
  const refused = new WeakSet<Destination>();
  cluster.sendCommand = (command, stream, node?: Destination) => {
    if (node !== undefined && node.redis === undefined) {
      node.redis = nodeOf(cluster, node.slot);
      const status = node.redis?.status;
      if (!cluster.options.enableOfflineQueue && status !== 'ready' && status !== 'wait') refused.add(node);
    }
    if (node === undefined || !refused.has(node)) return send(command, stream, node);
    command.reject(new Error(closed));
    return command.promise;
  };
  return cluster;
}

/** The client of a slot's master, or while that is unknown one that will say who it is. */
function nodeOf(cluster: Cluster, slot: number): Redis | undefined {
  const masters = cluster.nodes('master');
  const address = masterOf(cluster, slot);
  const isMaster = ({ options: { host, port } }: Redis): boolean => `${host}:${port}` === address;
  return masters.find(isMaster) ?? masters.find(({ status }) => status === 'ready') ?? masters[0];
}

/**
 * Fails the commands and connection attempts that a cluster client leaves unsettled when it ends;
 * BullMQ's worker would wait for them. ioredis also emits `close` for each node after `end`, which
 * would make later commands wait forever.
 */
export function endedForGood(cluster: Cluster): Cluster {
  const pending = new Set<Command>();
  const send = cluster.sendCommand.bind(cluster);
  cluster.sendCommand = (command, ...rest) => {
    pending.add(command);
    command.promise.catch(() => undefined).finally(() => pending.delete(command));
    return send(command, ...rest);
  };
  const open = cluster.connect.bind(cluster);
  cluster.connect = async () => {
    const { promise, reject } = Promise.withResolvers<never>();
    const onEnd = (): void => {
      if (cluster.status === 'end') reject(new Error(closed));
    };
    cluster.on('end', onEnd);
    await Promise.race([open(), promise]).finally(() => cluster.off('end', onEnd));
  };
  let ended = false;
  cluster.on('connecting', () => {
    ended = false;
  });
  cluster.on('end', () => {
    ended = true;
    for (const command of pending) command.reject(new Error(closed));
  });
  return cluster.on('close', () => {
    if (ended && cluster.status === 'close') cluster.status = 'end';
  });
}

/**
 * Starts to connect. Resolves after the first attempt, even a failed one. The client retries in the
 * background and reports to its `error` listeners.
 */
export async function connect(client: Redis | Cluster): Promise<void> {
  if (client.status !== 'wait') return;
  // A cluster's connect() never settles when its nodes answer but the cluster does not work.
  const closed = new Promise<void>((resolve) => {
    client.once('close', () => resolve());
  });
  await Promise.race([client.connect().catch(() => undefined), closed]);
}

/**
 * Closes the connection in any state and rejects the commands under way. Idempotent. The wait is
 * bounded: after a failover, a cluster client once closed all its connections without an `end`.
 */
export async function disconnect(client: Redis | Cluster): Promise<void> {
  if (client.status === 'end') return;
  const ended = new Promise<void>((resolve) => {
    client.once('end', () => resolve());
  });
  const idle = client.status === 'reconnecting';
  client.disconnect();
  if (idle) endIdle(client);
  await settledWithin(endMs, ended);
}

/**
 * Between two attempts, ioredis' disconnect() only cancels the next one: waiting commands would
 * hang and `end` would never come. One more attempt ends the client.
 */
function endIdle(client: Redis | Cluster): void {
  const attempt = client.connect();
  if (client instanceof Redis) client.disconnect();
  attempt.then(
    () => client.disconnect(),
    () => undefined,
  );
}
