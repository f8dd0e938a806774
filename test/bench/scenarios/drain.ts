import { copyRate, drainQueue, fillQueue } from '../harness/drains.ts';
import { figure, Rounds } from '../harness/figures.ts';
import { titles, type SideName } from '../harness/sides.ts';
import { shareInPlace, updatesOf, verify } from '../harness/stored.ts';
import type { World } from '../harness/world.ts';
import type { Scenario } from './scenario.ts';

type Contestant = 'copy' | 'job-per-event' | 'runledger';

/**
 * How fast a worker stores what waits in its queue, against COPY of the same rows into the same
 * table.
 */
export const drain: Scenario = async (world, { rounds, drainEvents, drainJobs }) => {
  const database = await world.createDatabase();
  const rates = new Rounds<Contestant, 'rate'>();
  const updates = new Rounds<'runledger', 'inPlace'>();
  // The first round warms up what is shared, disk and caches: workers begin cold in every round, as
  // they are meant to.
  for (let round = -1; round < rounds; round += 1) {
    const jobPerEvent = await drainOnce(world, 'job-per-event', database, drainJobs);
    const before = await updatesOf(database);
    const runledger = await drainOnce(world, 'runledger', database, drainEvents);
    const inPlace = shareInPlace(before, await updatesOf(database));
    const measured: Record<Contestant, number> = {
      'job-per-event': jobPerEvent,
      runledger,
      // What COPY stores are the rows that Runledger just has stored.
      copy: await copyRate(world, database, world.folder),
    };
    if (round < 0) continue;
    updates.add('runledger', { inPlace });
    for (const [name, rate] of Object.entries(measured)) rates.add(name as Contestant, { rate });
  }
  return {
    figures: [
      figure('COPY of the same rows', rates.median('rate', 'copy'), 'events/s'),
      figure(`${titles['job-per-event']} drains`, rates.median('rate', 'job-per-event'), 'events/s'),
      figure('Runledger drains', rates.median('rate', 'runledger'), 'events/s', { atLeast: 30_000 }),
      figure('Drain against COPY', rates.ratio('rate', 'runledger', 'copy'), '×', { atLeast: 0.5 }),
      figure('Updates of executions in place', updates.median('inPlace', 'runledger'), '%', { atLeast: 90 }),
      figure(`Drain against ${titles['job-per-event']}`, rates.ratio('rate', 'runledger', 'job-per-event'), '×'),
    ],
  };
};

async function drainOnce(world: World, side: SideName, database: string, events: number): Promise<number> {
  await world.emptyTables(database);
  const answers = await fillQueue(world, side, database, events);
  const rate = await drainQueue(world, side, database);
  await verify(database, answers, 256 * answers.loads, { by: side });
  return rate;
}
