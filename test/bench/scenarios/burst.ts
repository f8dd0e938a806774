import { until } from '../../support/until.ts';
import { drainQueue } from '../harness/drains.ts';
import { figure } from '../harness/figures.ts';
import { startIngest } from '../harness/sides.ts';
import { acceptedInAll, verify } from '../harness/stored.ts';
import { fill, rateOf } from '../harness/wrk.ts';
import type { World } from '../harness/world.ts';
import type { Scenario } from './scenario.ts';

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
      figure('Events accepted', answers.accepted, 'events', { atLeast: burstEvents }),
      figure('Not accepted', answers.refused + answers.broken, 'events', { atMost: 0 }),
      figure('Accepted at', rateOf(answers), 'events/s'),
      figure('Ingest resident at most', resident / 1e6, 'MB', { atMost: 200 }),
      figure('Redis memory', memory / accepted, 'B/event', { atMost: 120 }),
      figure('Drained at', rate, 'events/s', { atLeast: 30_000 }),
      figure('Lost', accepted - stored, 'events', { atMost: 0 }),
    ],
  };
};

/** While Redis rewrites its file, it holds buffers that are not the queue's. */
async function noRewriteUnderWay(world: World): Promise<void> {
  const info = async (): Promise<true | undefined> =>
    /^aof_rewrite_in_progress:0/m.test(await world.redis.info('persistence')) ? true : undefined;
  await until('the append-only file is rewritten', info, 120_000);
}
