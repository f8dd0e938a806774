import { durable, RedisServer } from './redis-server.ts';
import { until } from './until.ts';

/** Without the 5 s that a master waits for more replicas before it sends its data. */
const atOnce = ['--repl-diskless-sync-delay', '0'];

/** Arguments of a server that has replicas, or will have. */
export const replicated = [...durable, ...atOnce];

/** Another server that has all of the first one's data. */
export async function startReplica(master: RedisServer): Promise<AsyncDisposable & { server: RedisServer }> {
  const server = await RedisServer.start(replicated);
  await follow(server, master);
  return { server, [Symbol.asyncDispose]: () => server.stop() };
}

/** Makes a server a replica, and resolves once it has all the data of its master. */
export async function follow(server: RedisServer, master: RedisServer): Promise<void> {
  await server.command('replicaof', '127.0.0.1', String(master.port));
  await until('the replica has it all', async () => (await replication(server)).includes('master_link_status:up'));
}

/** `INFO replication`. */
export async function replication(server: RedisServer): Promise<string> {
  return String(await server.command('info', 'replication'));
}

/** The role of a server; undefined while it does not answer. */
export async function roleOf(server: RedisServer): Promise<'master' | 'slave' | undefined> {
  const info = await replication(server).catch(() => '');
  return /^role:(master|slave)/m.exec(info)?.[1] as 'master' | 'slave' | undefined;
}

/** How many replicas have the data of a server and follow it. */
export async function replicasOf(server: RedisServer): Promise<number> {
  return (await replication(server)).match(/state=online/g)?.length ?? 0;
}
