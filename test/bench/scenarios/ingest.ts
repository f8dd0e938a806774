import { Rounds, turns, type Figure } from '../harness/figures.ts';
import { startFront, titles, type Front, type SideName } from '../harness/sides.ts';
import { load } from '../harness/wrk.ts';
import type { World } from '../harness/world.ts';
import type { Scenario } from './scenario.ts';

const sides = ['bare', 'stack', 'naive', 'job-per-event', 'plain', 'runledger'] as const;

interface Measured {
  /** CPU time an event, in µs. */
  front: number;
  redis: number;
  /** Events a second. */
  rate: number;
}

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
  const fronts = new Map<SideName, Front>();
  for (const side of sides) fronts.set(side, await startFront(world, side, database));
  const figures: Figure[] = [];
  for (const connections of [64, 256]) {
    const cpu = new Rounds<SideName>();
    const redis = new Rounds<SideName>();
    const rate = new Rounds<SideName>();
    for (const [, { port }] of fronts) await load({ port, connections, seconds: seconds * 2 });
    for (let round = 0; round < rounds * turnsInOne; round += 1) {
      for (const [side, front] of turns([...fronts], round)) {
        await world.emptyQueues();
        await world.emptyTables(database);
        const measured = await measure(world, front, connections, Math.ceil(seconds / turnsInOne));
        cpu.add(side, measured.front);
        redis.add(side, measured.redis);
        rate.add(side, measured.rate);
      }
    }
    figures.push(...figuresOf(connections, cpu, redis, rate));
  }
  await Promise.all([...fronts.values()].map(({ program }) => world.end(program)));
  await world.emptyQueues();
  return { figures };
};

async function measure(world: World, front: Front, connections: number, seconds: number): Promise<Measured> {
  const before = [await front.program.cpu(), await world.redisCpu()] as const;
  const answers = await load({ port: front.port, connections, seconds });
  const after = [await front.program.cpu(), await world.redisCpu()] as const;
  if (answers.refused + answers.broken > 0) throw new Error(`${answers.refused} refused, ${answers.broken} broken`);
  const perEvent = (ms: number): number => (ms * 1_000) / answers.accepted;
  return {
    front: perEvent(after[0] - before[0]),
    redis: perEvent(after[1] - before[1]),
    rate: answers.accepted / answers.seconds,
  };
}

function figuresOf(
  connections: number,
  cpu: Rounds<SideName>,
  redis: Rounds<SideName>,
  rate: Rounds<SideName>,
): Figure[] {
  const at = `at ${connections} connections`;
  return [
    ...sides.map((side) => ({ name: `CPU of ${titles[side]} ${at}`, value: cpu.median(side), unit: 'µs/event' })),
    ...sides.map((side) => ({ name: `${titles[side]} accepts ${at}`, value: rate.median(side), unit: 'events/s' })),
    {
      name: `CPU of ingest against ${titles.bare} ${at}`,
      value: cpu.ratio('runledger', 'bare'),
      unit: '×',
      bar: { atMost: 1.4 },
    },
    {
      name: `CPU of ingest with FAST_PATH=false against ${titles.bare} ${at}`,
      value: cpu.ratio('plain', 'bare'),
      unit: '×',
    },
    {
      name: `CPU of ingest against ${titles.stack} ${at}`,
      value: cpu.ratio('runledger', 'stack'),
      unit: '×',
    },
    ...(['job-per-event', 'runledger'] as const).map((side) => ({
      name: `CPU of Redis for ${titles[side]} ${at}`,
      value: redis.median(side),
      unit: 'µs/event',
    })),
    {
      name: `CPU of Redis against ${titles['job-per-event']} ${at}`,
      value: redis.ratio('runledger', 'job-per-event'),
      unit: '×',
      bar: { atMost: 0.12 },
    },
  ];
}
