import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { queueKey } from '../../../internal/queue/keys/keys.ts';
import type { Cgroup } from '../../support/cgroup.ts';
import { freePort } from '../../support/free-port.ts';
import { until } from '../../support/until.ts';
import type { Program } from './program.ts';
import { token } from './wrk.ts';
import type { World } from './world.ts';

/**
 * Who takes part: (a) the floor, a file and the libraries alone, (b) the naive and (c) the usual
 * design, (d) Runledger.
 */
export type SideName = 'bare' | 'file' | 'stack' | 'naive' | 'job-per-event' | 'runledger' | 'plain';

/** What readers are told. */
export const titles: Record<SideName, string> = {
  bare: 'bare node:http',
  file: 'a file and nothing else',
  stack: 'Koa, router, body parser',
  naive: 'pg, a transaction per event',
  'job-per-event': 'BullMQ, a job per event',
  runledger: 'Runledger',
  plain: 'Runledger with FAST_PATH=false',
};

/** Events of a request to the bulk endpoint. */
export const bulkEvents = 100;

/** A process that takes events, and where. */
export interface Front {
  program: Program;
  port: number;
  opsPort?: number;
}

/** Starts what takes the requests of a side. Resolves when it takes them. */
export async function startFront(world: World, side: SideName, database: string): Promise<Front> {
  if (side === 'runledger') return startIngest(world);
  if (side === 'plain') return startIngest(world, { FAST_PATH: 'false' });
  const port = await freePort();
  const environment = {
    PORT: String(port),
    TOKEN: token,
    REDIS_URL: world.redisUrl,
    DATABASE_URL: database,
    FILE: join(world.folder, 'events'),
  };
  const program = world.program(`test/bench/baselines/${side}.ts`, environment);
  await program.says(/listening/);
  return { program, port };
}

/**
 * Starts what stores the events of a side, where that is another process. Resolves when it is
 * ready.
 */
export async function startWorker(world: World, side: SideName, database: string): Promise<Program | undefined> {
  if (side === 'runledger') return startRunledgerWorker(world, database);
  if (side !== 'job-per-event') return undefined;
  const environment = { ROLE: 'worker', REDIS_URL: world.redisUrl, DATABASE_URL: database };
  const program = world.program(`test/bench/baselines/${side}.ts`, environment);
  await program.says(/working/);
  return program;
}

/**
 * Runledger's ingest with the shipped defaults: no setting but where things are. `group`: its limit
 * of memory.
 */
export async function startIngest(
  world: World,
  settings: Record<string, string> = {},
  group?: Cgroup,
): Promise<Front & { opsPort: number }> {
  const [port, opsPort] = [await freePort(), await freePort()];
  const environment = {
    PORT: String(port),
    OPS_PORT: String(opsPort),
    PUBLIC_URL: 'https://runledger.example',
    TRUST_PROXY: 'true',
    TOKENS_FILE: world.tokensFile,
    REDIS_URL: world.redisUrl,
    ...settings,
  };
  const program = world.program('cmd/ingest/main.ts', environment, [], [], group);
  await program.answers(`http://127.0.0.1:${opsPort}/readyz`);
  return { program, port, opsPort };
}

/** Runledger's console, without limits for its one reader. */
export async function startConsole(
  world: World,
  database: string,
  settings: Record<string, string> = {},
): Promise<Front> {
  const [port, opsPort] = [await freePort(), await freePort()];
  const program = await world.warmProgram('cmd/console/main.ts', {
    PORT: String(port),
    OPS_PORT: String(opsPort),
    CONSOLE_PUBLIC_URL: 'https://console.example',
    TRUST_PROXY: 'true',
    TOKENS_FILE: world.tokensFile,
    DATABASE_URL: database,
    READ_RATE: '10000',
    READ_CONCURRENCY: '1000',
    ...settings,
  });
  await program.answers(`http://127.0.0.1:${opsPort}/readyz`);
  return { program, port, opsPort };
}

/** Runledger's worker with the shipped defaults, but for these settings. */
export async function startRunledgerWorker(
  world: World,
  database: string,
  settings: Record<string, string> = {},
  group?: Cgroup,
): Promise<Program> {
  const opsPort = await freePort();
  const environment = { OPS_PORT: String(opsPort), REDIS_URL: world.redisUrl, DATABASE_URL: database, ...settings };
  const program = world.program('cmd/worker/main.ts', environment, [], [], group);
  await program.answers(`http://127.0.0.1:${opsPort}/readyz`);
  return program;
}

/**
 * Resolves once every event of the side is committed: no job waits or is under way, for a job ends
 * after its commit.
 */
export async function drained(world: World, side: SideName, redis: Redis = world.redis): Promise<void> {
  const key = keyOf(side);
  if (key === undefined) return world.postgresIdle();
  const jobs = async (): Promise<number> => {
    const [wait, active, delayed] = await Promise.all([
      redis.llen(key('wait')),
      redis.llen(key('active')),
      redis.zcard(key('delayed')),
    ]);
    return wait + active + delayed;
  };
  await until(`${side} has stored everything`, async () => ((await jobs()) === 0 ? true : undefined), 600_000);
}

function keyOf(side: SideName): ((part: string) => string) | undefined {
  if (side === 'runledger') return (part) => queueKey('events', part);
  if (side === 'job-per-event') return (part) => `bull:job-per-event:${part}`;
  return undefined;
}
