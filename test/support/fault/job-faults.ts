import { queueKey } from '../../../internal/queue/keys/keys.ts';
import { withQueue } from '../queue.ts';
import type { RedisServer } from '../redis-server.ts';
import { until } from '../until.ts';
import type { FaultType, Heal, Scene } from './fault.ts';

/** Jobs whose bits are flipped. */
const damagedJobs = 5;

/** How long to look for a job that waits, and for what became of it, in ms. */
const patienceMs = 60_000;

/**
 * Flips a bit of the newest job that waits. Its place: a share of the length of its data. Returns
 * the id of the job and its data as it was.
 */
const flipScript = `
local id = redis.call('LINDEX', KEYS[1], 0)
if not id then return false end
local job = ARGV[1] .. id
local data = redis.call('HGET', job, 'data')
local at = math.min(math.floor(#data * ARGV[2]) + 1, #data)
local flipped = string.char(bit.bxor(string.byte(data, at), bit.lshift(1, ARGV[3])))
redis.call('HSET', job, 'data', string.sub(data, 1, at - 1) .. flipped .. string.sub(data, at + 1))
return {id, data}
`;

interface Damaged {
  id: string;
  data: string;
}

/** Flips a bit of some job that waits. Redis may be struck by the other fault of the pair. */
function flip(redis: RedisServer, share: number, bit: number): Promise<Damaged> {
  const args = [queueKey('events', ''), String(share), String(bit)];
  const tryOnce = async (): Promise<Damaged | undefined> => {
    const reply = await redis.command('eval', flipScript, '1', queueKey('events', 'wait'), ...args);
    const [id, data] = (reply ?? []) as [string?, string?];
    return id === undefined || data === undefined ? undefined : { id, data };
  };
  return until('a job waits', () => tryOnce().catch(() => undefined), patienceMs, 1);
}

/**
 * Waits until the workers have set a job aside, then puts its data back and lets them take it, as a
 * person does who has a copy. A job that is gone was stored: the audit says whether rightly.
 */
async function repair(redis: RedisServer, { id, data }: Damaged): Promise<void> {
  const tryOnce = async (): Promise<boolean> => {
    const isAside = async (set: 'failed' | 'delayed'): Promise<boolean> =>
      (await redis.command('zscore', queueKey('events', set), id)) !== null;
    const [failed, delayed] = [await isAside('failed'), await isAside('delayed')];
    if (!failed && !delayed) return (await redis.command('exists', queueKey('events', id))) === 0;
    await redis.command('hset', queueKey('events', id), 'data', data);
    return withQueue(redis.url, async (queue) => {
      const job = await queue.getJob(id);
      await (failed ? job?.retry('failed') : job?.promote());
      return true;
    });
  };
  await until(`job ${id} is set aside`, () => tryOnce().catch(() => false), patienceMs);
}

async function flipBits({ system: { redis } }: Scene, amount: number): Promise<Heal> {
  const damaged: Damaged[] = [];
  for (let index = 0; index < damagedJobs; index += 1) {
    damaged.push(await flip(redis, (amount + index / damagedJobs) % 1, (index * 3) % 8));
  }
  return async () => {
    for (const job of damaged) await repair(redis, job);
  };
}

/** Faults of the jobs in Redis. */
export const jobFaults: Record<string, FaultType> = {
  'bits of jobs flipped': {
    places: ['queue'],
    hold: [500, 5_000],
    inject: (scene, { amount }) => flipBits(scene, amount),
  },
};
