import { citusUrl, createCitusDatabase } from './citus.ts';
import { PostgresServer } from './postgres-server.ts';
import { RedisServer } from './redis-server.ts';

let redis: RedisServer | undefined;
let postgres: PostgresServer | undefined;

/** Autovacuum would go through hundreds of databases that no test needs any more. */
const withoutAutovacuum = ['-c', 'autovacuum=off'];

/** Started once a run, before the first test; each test makes its own state in them. */
export async function mochaGlobalSetup(): Promise<void> {
  const servers = [RedisServer.start(), PostgresServer.start(withoutAutovacuum)] as const;
  [redis, postgres] = await Promise.all(servers);
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
  if (citusUrl !== undefined && template === undefined) return createCitusDatabase(citusUrl);
  if (postgres === undefined) throw new Error('test/support/servers.ts is not among the required modules');
  return postgres.createDatabase(template);
}
