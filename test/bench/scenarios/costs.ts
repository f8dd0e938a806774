import { names, ways, type Cost, type Way } from '../harness/cost-names.ts';
import { Pipeline } from '../harness/event-costs.ts';
import { figure, Rounds, type Figure } from '../harness/figures.ts';
import type { Scenario } from './scenario.ts';

/** What an event costs each part of Runledger: `make capacity` reckons with it. */
export const costs: Scenario = async (world, { rounds, seconds, drainEvents }) => {
  // A rewrite of the file would take CPU time that is not the event's.
  await world.redis.config('SET', 'auto-aof-rewrite-percentage', 0);
  const pipeline = await Pipeline.start(world);
  const found = new Rounds<Way, Cost | 'rate'>();
  const paused = new Rounds<'worker', 'rate' | 'waiting' | 'seconds'>();
  for (let round = 0; round < rounds; round += 1) {
    found.add('flow', await pipeline.flow(seconds * 2));
    found.add('drain', await pipeline.drain(drainEvents));
    paused.add('worker', await pipeline.catchUp(seconds * 2));
  }
  await pipeline.stop();
  await world.redis.config('SET', 'auto-aof-rewrite-percentage', 100);
  return {
    figures: [
      ...figuresOf(found, 'flow', 'A steady flow'),
      ...figuresOf(found, 'drain', 'A drain'),
      figure('A flow beside a frozen worker', paused.median('rate', 'worker'), 'events/s'),
      figure('Events that waited when it thawed', paused.median('waiting', 'worker'), 'events'),
      figure('They were stored after', paused.median('seconds', 'worker'), 's'),
    ],
  };
};

function figuresOf(found: Rounds<Way, Cost | 'rate'>, way: Way, title: string): Figure[] {
  const all = Object.entries(names) as [Cost, string][];
  const unit = (cost: Cost): string => (['appended', 'wal', 'kept'].includes(cost) ? 'B/event' : 'µs/event');
  return [
    figure(title, found.median('rate', way), 'events/s'),
    // A drain has nothing for ingest to do.
    ...all
      .filter(([cost]) => way === 'flow' || cost !== 'ingest')
      .map(([cost, name]) => figure(`${name} ${ways[way]}`, found.median(cost, way), unit(cost))),
  ];
}
