import { variant, type FaultType, type Heal, type Scene } from './fault.ts';
import { memoryLimit, type TornTail } from './redis-daemon.ts';

const places = ['redis'];

const startAgain =
  ({ system }: Scene): Heal =>
  () =>
    system.redis.startAgain();

async function limitMemory({ system }: Scene, limit: (used: number) => number): Promise<Heal> {
  await system.redis.commands(async (redis) => {
    const used = Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1]);
    await redis.config('SET', 'maxmemory', String(Math.round(limit(used))));
  });
  return () => system.redis.commands(async (redis) => void (await redis.config('SET', 'maxmemory', memoryLimit)));
}

/** Faults of Redis beyond those of any process. */
export const redisFaults: Record<string, FaultType> = {
  'redis killed': {
    places,
    hold: [0, 10_000],
    inject: async (scene) => {
      await scene.system.redis.end('SIGKILL');
      return startAgain(scene);
    },
  },
  'redis terminated': {
    places,
    hold: [0, 5_000],
    inject: async (scene) => {
      await scene.system.redis.end('SIGTERM');
      return startAgain(scene);
    },
  },
  'redis killed, torn tail': {
    places,
    hold: [0, 3_000],
    inject: async (scene, { amount }) => {
      await scene.system.redis.end('SIGKILL');
      await scene.system.redis.tearTail(variant<TornTail>(['command', 'transaction'], amount));
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
