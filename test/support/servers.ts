import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { PostgresServer } from './postgres-server.ts';
import { durable, RedisServer } from './redis-server.ts';

let redis: RedisServer | undefined;
let postgres: PostgresServer | undefined;

/** Autovacuum would go through hundreds of databases that no test needs any more. */
const withoutAutovacuum = ['-c', 'autovacuum=off'];

/** Started once a run, before the first test; each test makes its own state in them. */
export async function mochaGlobalSetup(): Promise<void> {
  const folder = await memoryFolder();
  const servers = [RedisServer.start(durable, folder), PostgresServer.start(withoutAutovacuum)] as const;
  [redis, postgres] = await Promise.all(servers);
}

/**
 * A folder in memory, if there is room. On a busy disk an fsync of Redis takes seconds, and ingest
 * answers 503 after two.
 */
async function memoryFolder(): Promise<string> {
  const memory = '/dev/shm';
  const { bavail, bsize } = await statfs(memory).catch(() => ({ bavail: 0, bsize: 0 }));
  return bavail * bsize >= 2 ** 30 ? memory : tmpdir();
}

export async function mochaGlobalTeardown(): Promise<void> {
  await Promise.all([redis?.stop(), postgres?.stop()]);
}

/** The run's Redis, emptied. */
export async function emptyRedis(): Promise<RedisServer> {
  if (redis === undefined) throw new Error('test/support/servers.ts is not among the required modules');
  await redis.command('flushall');
  return redis;
}

/** The address of a fresh database in the run's Postgres: empty, or a copy of a template. */
export async function emptyDatabase(template?: string): Promise<string> {
  if (postgres === undefined) throw new Error('test/support/servers.ts is not among the required modules');
  return postgres.createDatabase(template);
}
