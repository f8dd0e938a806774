import { randomUUID } from 'node:crypto';
import { appendFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Queue } from 'bullmq';
import { createIdentitySource } from '../../../internal/event/identity.ts';
import { anEvent } from '../events.ts';
import { plainJob, withQueue } from '../queue.ts';
import type { RedisServer } from '../redis-server.ts';
import { until } from '../until.ts';
import { variant, type FaultType, type Heal, type Scene } from './fault.ts';
import { memoryLimit } from './system.ts';
import { organization } from './tokens.ts';

const places = ['redis'];

/** Ends Redis; healed, it is started on its data. */
function ended(signal: NodeJS.Signals, hold: FaultType['hold']): FaultType {
  return {
    places,
    hold,
    inject: async ({ system: { redis } }) => {
      await redis.kill(signal);
      return () => redis.startAgain();
    },
  };
}

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

/** Sets maxmemory to a multiple of what is used. */
function memory(factor: number): FaultType {
  const inject = async ({ system: { redis } }: Scene): Promise<Heal> => {
    await redis.command('config', 'set', 'maxmemory', String(Math.round((await redis.memory()).used * factor)));
    return () => redis.command('config', 'set', 'maxmemory', memoryLimit);
  };
  return { places, hold: [500, 10_000], inject };
}

/**
 * Adds a job as a pod of another release does, until it succeeds: Redis may be struck by the other
 * fault of the pair. An event added twice is stored once.
 */
async function addSurely({ system }: Scene, data: object, attempts: number): Promise<string> {
  const add = (queue: Queue) => queue.add('events', data, { attempts, removeOnComplete: true });
  const tryOnce = () => withQueue(system.redis.url, add).catch(() => undefined);
  return (await until('redis takes a job of another release', tryOnce, 90_000)).id ?? '';
}

/** Uncompressed rows of another pod; the ledger takes them as if with receipts. */
async function addPlainJob(scene: Scene): Promise<void> {
  const { automations, ledger } = scene.load;
  const automation_id = (automations.ids[0] ?? '').toUpperCase();
  const identify = createIdentitySource();
  const events = (['START', 'END'] as const).map((event) => {
    const body = { automation_id, execution_id: 'plain job', event, description: `${randomUUID()} plain` };
    const { id, createdAt } = identify();
    const receipt = { verdict: 'receipt' as const, status: 201, createdAt: new Date(createdAt).toISOString() };
    ledger.open(body, undefined).attempts.push(receipt);
    return anEvent({
      id,
      createdAt,
      organization,
      automationId: automation_id,
      executionId: body.execution_id,
      kind: event,
      description: body.description,
    });
  });
  await addSurely(scene, plainJob(events), 1_000_000);
}

/** Only a newer release can read it. It must stay, whole, until one comes: here it is taken out. */
async function addNewerJob(scene: Scene): Promise<Heal> {
  const data = { v: 2, columns: { secret: randomUUID() } };
  const id = await addSurely(scene, data, 3);
  return () =>
    withQueue(scene.system.redis.url, async (queue) => {
      const job = await queue.getJob(id);
      if (JSON.stringify(job?.data) !== JSON.stringify(data)) throw new Error('the job of a newer release has changed');
      const remove = () => job?.remove().then(...outcome);
      await until('the job of a newer release can be taken', remove, 60_000);
    });
}

const outcome = [() => true, () => false] as const;

/** Faults of Redis and of the jobs in it. */
export const redisFaults: Record<string, FaultType> = {
  'redis killed': ended('SIGKILL', [0, 10_000]),
  'redis terminated': ended('SIGTERM', [0, 5_000]),
  'redis killed, torn tail': {
    places,
    hold: [0, 3_000],
    inject: async ({ system: { redis } }, { amount }) => {
      await redis.kill();
      await tearTail(redis, variant(tornTails, amount));
      return () => redis.startAgain();
    },
  },
  'redis frozen': {
    places,
    hold: [10_000, 40_000],
    inject: ({ system: { redis } }) => {
      redis.signal('SIGSTOP');
      return () => redis.signal('SIGCONT');
    },
  },
  'redis full': memory(0.9),
  'redis nearly full': memory(1 / 0.85),
  'uncompressed job': { places: ['queue'], hold: [0, 0], inject: addPlainJob },
  'job of a newer release': { places: ['queue'], hold: [500, 5_000], inject: addNewerJob },
};
