import { compare, figure } from '../harness/figures.ts';
import { end, measureDrain, start } from './log.ts';
import type { Scenario } from './scenario.ts';

const sides = ['one', 'several'] as const;

/**
 * What DATABASE_URLS costs an event while all organizations are in the first database: drains in
 * turns, by a worker with a second database and one without.
 */
export const databases: Scenario = async (world, { rounds, drainEvents }) => {
  const other = await world.createDatabase();
  const taken = {
    one: await start(world, 1),
    several: await start(world, 2, { worker: { DATABASE_URLS: `eu=${other}` } }),
  };
  const found = await compare(sides, rounds, (side) => measureDrain(world, taken[side], drainEvents), { warmUp: true });
  for (const one of Object.values(taken)) await end(world, one);
  return {
    figures: [
      ...sides.map((side) => figure(`CPU of a worker with ${side}`, found.median('worker', side), 'µs/event')),
      figure('CPU of a worker, several against one', found.ratio('worker', 'several', 'one'), '×', { atMost: 1.05 }),
      figure('CPU of Postgres, the same', found.ratio('postgres', 'several', 'one'), '×'),
      figure('Rate of a drain, the same', found.ratio('rate', 'several', 'one'), '×'),
    ],
  };
};
