import { appendFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { RedisServer } from '../redis-server.ts';
import { variant, type FaultType, type Heal, type Scene } from './fault.ts';
import { memoryLimit } from './system.ts';

const places = ['redis'];

/** How a crash in the middle of a write leaves the end of the append-only file. */
const tornTails = [
  // A command of which a part is missing.
  '*3\r\n$3\r\nSET\r\n$9\r\nnever-was\r\n$20\r\nhalf a va',
  // A transaction without its EXEC: none of it may be applied.
  '*1\r\n$5\r\nMULTI\r\n*3\r\n$3\r\nSET\r\n$9\r\nnever-was\r\n$3\r\nyes\r\n',
];

/** Leaves what a crash in mid-write does. No acknowledged byte is torn. */
async function tearTail(redis: RedisServer, tail: string): Promise<void> {
  const folder = join(redis.folder, 'appendonlydir');
  const files = (await readdir(folder)).filter((name) => name.endsWith('.incr.aof')).sort();
  await appendFile(join(folder, files.at(-1) ?? ''), tail);
}

const startAgain =
  ({ system }: Scene): Heal =>
  () =>
    system.redis.startAgain();

async function limitMemory({ system }: Scene, limit: (used: number) => number): Promise<Heal> {
  await system.redis.use(async (redis) => {
    const used = Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1]);
    await redis.config('SET', 'maxmemory', String(Math.round(limit(used))));
  });
  return () => system.redis.use(async (redis) => void (await redis.config('SET', 'maxmemory', memoryLimit)));
}

/** Faults of Redis beyond those of any process. */
export const redisFaults: Record<string, FaultType> = {
  'redis killed': {
    places,
    hold: [0, 10_000],
    inject: async (scene) => {
      await scene.system.redis.kill('SIGKILL');
      return startAgain(scene);
    },
  },
  'redis terminated': {
    places,
    hold: [0, 5_000],
    inject: async (scene) => {
      await scene.system.redis.kill('SIGTERM');
      return startAgain(scene);
    },
  },
  'redis killed, torn tail': {
    places,
    hold: [0, 3_000],
    inject: async (scene, { amount }) => {
      await scene.system.redis.kill('SIGKILL');
      await tearTail(scene.system.redis, variant(tornTails, amount));
      return startAgain(scene);
    },
  },
  'redis full': {
    places,
    hold: [500, 10_000],
    inject: (scene) => limitMemory(scene, (used) => used * 0.9),
  },
  'redis nearly full': {
    places,
    hold: [500, 10_000],
    inject: (scene) => limitMemory(scene, (used) => used / 0.85),
  },
};
