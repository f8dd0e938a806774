import { randomUUID } from 'node:crypto';
import { Queue } from 'bullmq';
import { createIdentitySource } from '../../../internal/event/identity.ts';
import { keyPrefix } from '../../../internal/queue/keys.ts';
import { until } from '../until.ts';
import { clocksCanStep } from './clock.ts';
import { over, variant, type FaultType, type Heal, type Scene } from './fault.ts';
import { organization, queueName, slotNames, type SlotName } from './system.ts';

const day = 86_400;

/**
 * How far a clock is off, in s. The last three lead over midnight UTC, and to days that have no
 * partition.
 */
const steps = [-3_600, -20, -2, 2, 20, 3_600, 'midnight', 20 * day, -3 * day] as const;

function secondsToMidnight(): number {
  return day - Math.floor((Date.now() / 1_000) % day);
}

/** A queue as a pod of another release has it. The caller closes it. */
async function withQueue<T>({ system }: Scene, work: (queue: Queue) => Promise<T>): Promise<T> {
  const { port } = system.redis;
  const queue = new Queue(queueName, {
    connection: { port, host: '127.0.0.1' },
    prefix: keyPrefix,
    skipVersionCheck: true,
  });
  queue.on('error', () => undefined);
  try {
    return await work(queue);
  } finally {
    await queue.close();
  }
}

/**
 * Adds until it succeeds: Redis may be struck by the other fault of the pair. An event added twice
 * is stored once.
 */
async function addSurely<T>(scene: Scene, add: (queue: Queue) => Promise<T>): Promise<T> {
  const tryOnce = () =>
    withQueue(scene, add).then(
      (added) => ({ added }),
      () => undefined,
    );
  return (await until('redis takes a job of another release', tryOnce, 90_000)).added;
}

/**
 * Uncompressed rows, as version 1 always allowed; entered into the ledger as if a pod had given the
 * receipt.
 */
async function addOlderJob(scene: Scene): Promise<void> {
  const { load } = scene;
  const automation_id = load.automations.ids[0] ?? randomUUID();
  const identify = createIdentitySource();
  const rows = (['START', 'END'] as const).map((event) => {
    const body = { automation_id, execution_id: 'older release', event, description: `${randomUUID()} older` };
    const { id, createdAt } = identify();
    load.ledger
      .open(body, undefined)
      .attempts.push({ verdict: 'receipt', status: 201, createdAt: new Date(createdAt).toISOString() });
    return [id, createdAt, organization, automation_id, body.execution_id, event, body.description, '', ''];
  });
  await addSurely(scene, (queue) =>
    queue.add('events', { v: 1, rows }, { attempts: 1_000_000, removeOnComplete: true }),
  );
}

/**
 * A job that only a newer release can read. It must stay, whole, until one comes: here the harness
 * takes it out.
 */
async function addNewerJob(scene: Scene): Promise<Heal> {
  const data = { v: 2, columns: { secret: randomUUID() } };
  const id = await addSurely(scene, async (queue) => (await queue.add('events', data, { attempts: 3 })).id ?? '');
  return () =>
    withQueue(scene, async (queue) => {
      const job = await queue.getJob(id);
      if (JSON.stringify(job?.data) !== JSON.stringify(data))
        throw new Error('the job of a newer release is gone or changed');
      await until(
        'the job of a newer release can be taken',
        async () => {
          return job?.remove().then(
            () => true,
            () => undefined,
          );
        },
        60_000,
      );
    });
}

/** Faults of time and of releases. */
export const otherFaults: Record<string, FaultType> = {
  'clock stepped': {
    places: slotNames,
    hold: [2_500, 8_000],
    unavailable: () => (clocksCanStep ? undefined : 'libfaketime is not installed (Debian: faketime)'),
    inject: async ({ system }, { place, amount }) => {
      const { clock } = system.pod(place as SlotName);
      const step = variant(steps, amount);
      clock.step(step === 'midnight' ? secondsToMidnight() - 2 : step);
      return async () => clock.step(0);
    },
  },
  'job of an older release': {
    places: ['queue'],
    hold: [0, 0],
    inject: async (scene) => {
      await addOlderJob(scene);
      return over;
    },
  },
  'job of a newer release': { places: ['queue'], hold: [500, 5_000], inject: addNewerJob },
};
