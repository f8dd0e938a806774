import { compare, figure, type Figure, type Rounds } from '../harness/figures.ts';
import { bulkEvents, startFront, titles, type Front } from '../harness/sides.ts';
import { load, rateOf } from '../harness/wrk.ts';
import type { World } from '../harness/world.ts';
import type { Scenario } from './scenario.ts';

const sides = ['bare', 'stack', 'naive', 'job-per-event', 'plain', 'runledger'] as const;
type Side = (typeof sides)[number];

/** CPU time per event of the process that takes it and of Redis, in µs; and events a second. */
type Measure = 'cpu' | 'redis' | 'rate';

/**
 * A turn is short, and there are more of them than in other scenarios: what a wake-up of another
 * core costs the machine changes from second to second, and with it the CPU time of a side in one
 * turn by up to a half.
 */
const turnsInOne = 3;

/**
 * What it costs to accept an event: CPU time of the process that takes it, and of Redis. No worker
 * runs.
 */
export const ingest: Scenario = async (world, { rounds, seconds }) => {
  const database = await world.createDatabase();
  const fronts = {} as Record<Side, Front>;
  for (const side of sides) fronts[side] = await startFront(world, side, database);
  const figures: Figure[] = [];
  for (const connections of [64, 256]) {
    for (const { port } of Object.values(fronts)) await load({ port, connections, seconds: seconds * 2 });
    const found = await compare(sides, rounds * turnsInOne, async (side) => {
      await world.emptyQueues();
      await world.emptyTables(database);
      return measure(world, fronts[side], connections, Math.ceil(seconds / turnsInOne));
    });
    figures.push(...figuresOf(`at ${connections} connections`, found));
  }
  figures.push(...(await bulkFigures(world, fronts.runledger, rounds * turnsInOne, Math.ceil(seconds / turnsInOne))));
  await Promise.all(Object.values(fronts).map(({ program }) => world.end(program)));
  await world.emptyQueues();
  return { figures };
};

async function measure(
  world: World,
  { program, port }: Front,
  connections: number,
  seconds: number,
  events = 1,
): Promise<Record<Measure, number>> {
  const before = [await program.cpu(), await world.redisCpu()] as const;
  const answers = await load({ port, connections, seconds, events });
  const after = [await program.cpu(), await world.redisCpu()] as const;
  if (answers.refused + answers.broken > 0) throw new Error(`${answers.refused} refused, ${answers.broken} broken`);
  const perEvent = (ms: number): number => (ms * 1_000) / answers.accepted;
  return { cpu: perEvent(after[0] - before[0]), redis: perEvent(after[1] - before[1]), rate: rateOf(answers) };
}

/** Single events and requests of many, in turns, at the same ingest. */
async function bulkFigures(world: World, front: Front, rounds: number, seconds: number): Promise<Figure[]> {
  const connections = 16;
  const found = await compare(['single', 'bulk'] as const, rounds, async (side) => {
    await world.emptyQueues();
    return measure(world, front, connections, seconds, side === 'bulk' ? bulkEvents : 1);
  });
  const at = `at ${connections} connections`;
  const bulk = `requests of ${bulkEvents} events`;
  return [
    figure(`CPU of Runledger, ${bulk} ${at}`, found.median('cpu', 'bulk'), 'µs/event'),
    figure(`CPU of Runledger, single events ${at}`, found.median('cpu', 'single'), 'µs/event'),
    figure(`Runledger accepts, ${bulk} ${at}`, found.median('rate', 'bulk'), 'events/s'),
    figure(
      `Events for the same CPU of ingest, ${bulk} against single events`,
      found.ratio('cpu', 'single', 'bulk'),
      '×',
      {
        atLeast: 2,
      },
    ),
  ];
}

function figuresOf(at: string, found: Rounds<Side, Measure>): Figure[] {
  const [job, bare] = [titles['job-per-event'], titles.bare];
  return [
    ...sides.map((side) => figure(`CPU of ${titles[side]} ${at}`, found.median('cpu', side), 'µs/event')),
    ...sides.map((side) => figure(`${titles[side]} accepts ${at}`, found.median('rate', side), 'events/s')),
    figure(`CPU of ingest against ${bare} ${at}`, found.ratio('cpu', 'runledger', 'bare'), '×', { atMost: 1.4 }),
    figure(`CPU of ingest with FAST_PATH=false against ${bare} ${at}`, found.ratio('cpu', 'plain', 'bare'), '×'),
    figure(`CPU of ingest against ${titles.stack} ${at}`, found.ratio('cpu', 'runledger', 'stack'), '×'),
    figure(`CPU of Redis for ${job} ${at}`, found.median('redis', 'job-per-event'), 'µs/event'),
    figure(`CPU of Redis for ${titles.runledger} ${at}`, found.median('redis', 'runledger'), 'µs/event'),
    figure(`CPU of Redis against ${job} ${at}`, found.ratio('redis', 'runledger', 'job-per-event'), '×', {
      atMost: 0.12,
    }),
  ];
}
