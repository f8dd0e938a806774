import { until } from '../../support/until.ts';
import { drainQueue } from '../harness/drains.ts';
import { startIngest } from '../harness/sides.ts';
import { acceptedInAll, verify } from '../harness/stored.ts';
import { fill } from '../harness/wrk.ts';
import type { World } from '../harness/world.ts';
import type { Scenario } from './scenario.ts';

const megabyte = 1e6;

/**
 * A million events at full speed while no worker runs: what is accepted, what it takes to keep it,
 * and what is lost.
 */
export const burst: Scenario = async (world, { burstEvents }) => {
  const database = await world.createDatabase();
  await world.emptyQueues();
  const ingest = await startIngest(world);
  const memoryBefore = await world.redisMemory();
  const answers = await fill(ingest.port, 256, burstEvents);
  const accepted = await acceptedInAll(ingest.opsPort);
  await noRewriteUnderWay(world);
  const memory = (await world.redisMemory()) - memoryBefore;
  const resident = await ingest.program.memory('VmHWM');
  await world.end(ingest.program);
  const rate = await drainQueue(world, 'runledger', database);
  const stored = await verify(database, { ...answers, refused: 0, broken: 0 }, 256 * answers.loads);
  return {
    figures: [
      { name: 'Events accepted', value: answers.accepted, unit: 'events', bar: { atLeast: burstEvents } },
      { name: 'Not accepted', value: answers.refused + answers.broken, unit: 'events', bar: { atMost: 0 } },
      { name: 'Accepted at', value: answers.accepted / answers.seconds, unit: 'events/s' },
      { name: 'Ingest resident at most', value: resident / megabyte, unit: 'MB', bar: { atMost: 200 } },
      { name: 'Redis memory', value: memory / accepted, unit: 'B/event', bar: { atMost: 120 } },
      { name: 'Drained at', value: rate, unit: 'events/s', bar: { atLeast: 30_000 } },
      { name: 'Lost', value: accepted - stored, unit: 'events', bar: { atMost: 0 } },
    ],
  };
};

/** While Redis rewrites its file, it holds buffers that are not the queue's. */
async function noRewriteUnderWay(world: World): Promise<void> {
  const info = async (): Promise<true | undefined> =>
    /^aof_rewrite_in_progress:0/m.test(await world.redis.info('persistence')) ? true : undefined;
  await until('the append-only file is rewritten', info, 120_000);
}
