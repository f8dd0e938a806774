import { Rounds, turns, type Figure } from '../harness/figures.ts';
import type { Program } from '../harness/program.ts';
import { drained, startFront, startWorker, titles, type SideName } from '../harness/sides.ts';
import { verify } from '../harness/stored.ts';
import { load } from '../harness/wrk.ts';
import type { World } from '../harness/world.ts';
import type { Scenario } from './scenario.ts';

const sides = ['naive', 'job-per-event', 'runledger'] as const;
const connections = 64;

/** A whole side: what takes events, what stores them, and where. */
interface Pipeline {
  side: SideName;
  database: string;
  port: number;
  programs: Program[];
}

/**
 * From the first request until the last outcome is committed: how many events a second, and at what
 * cost in all.
 */
export const pipeline: Scenario = async (world, { rounds, seconds }) => {
  const pipelines: Pipeline[] = [];
  for (const side of sides) pipelines.push(await startPipeline(world, side));
  for (const each of pipelines) await measure(world, each, seconds);
  const rate = new Rounds<SideName>();
  const perCpuSecond = new Rounds<SideName>();
  const redis = new Rounds<SideName>();
  for (let round = 0; round < rounds; round += 1) {
    for (const each of turns(pipelines, round)) {
      const measured = await measure(world, each, seconds);
      rate.add(each.side, measured.rate);
      perCpuSecond.add(each.side, measured.perCpuSecond);
      redis.add(each.side, measured.redis);
    }
  }
  await Promise.all(pipelines.flatMap(({ programs }) => programs.map((program) => world.end(program))));
  return { figures: figuresOf(rate, perCpuSecond, redis) };
};

async function startPipeline(world: World, side: SideName): Promise<Pipeline> {
  const database = await world.createDatabase();
  const { program, port } = await startFront(world, side, database);
  const worker = await startWorker(world, side, database);
  return { side, database, port, programs: worker === undefined ? [program] : [program, worker] };
}

interface Measured {
  /** Events a second. */
  rate: number;
  /** Events for a second of CPU time of front, worker, Redis and Postgres together. */
  perCpuSecond: number;
  /** CPU time of Redis an event, from its first request until its job is gone, in µs. */
  redis: number;
}

async function measure(world: World, { side, database, port, programs }: Pipeline, seconds: number): Promise<Measured> {
  await world.emptyTables(database);
  const cpu = async (): Promise<{ redis: number; all: number }> => {
    const redis = await world.redisCpu();
    const others = await Promise.all([world.postgresCpu(), ...programs.map((program) => program.cpu())]);
    return { redis, all: others.reduce((sum, time) => sum + time, redis) };
  };
  const before = await cpu();
  const begun = performance.now();
  const answers = await load({ port, connections, seconds });
  await drained(world, side);
  const took = performance.now() - begun;
  const after = await cpu();
  const events = await verify(database, answers, connections);
  return {
    rate: (events / took) * 1_000,
    perCpuSecond: (events / (after.all - before.all)) * 1_000,
    redis: ((after.redis - before.redis) * 1_000) / events,
  };
}

function figuresOf(rate: Rounds<SideName>, perCpuSecond: Rounds<SideName>, redis: Rounds<SideName>): Figure[] {
  const against = (side: SideName): string => `against ${titles[side]}`;
  return [
    ...sides.map((side) => ({ name: `${titles[side]} stores`, value: rate.median(side), unit: 'events/s' })),
    ...sides.map((side) => ({
      name: `${titles[side]} stores for a second of CPU`,
      value: perCpuSecond.median(side),
      unit: 'events/CPU s',
    })),
    {
      name: `Throughput ${against('job-per-event')}`,
      value: rate.ratio('runledger', 'job-per-event'),
      unit: '×',
      bar: { atLeast: 8 },
    },
    {
      name: `Throughput ${against('naive')}`,
      value: rate.ratio('runledger', 'naive'),
      unit: '×',
      bar: { atLeast: 2.5 },
    },
    {
      name: `Events for a second of CPU ${against('job-per-event')}`,
      value: perCpuSecond.ratio('runledger', 'job-per-event'),
      unit: '×',
      bar: { atLeast: 3 },
    },
    ...(['job-per-event', 'runledger'] as const).map((side) => ({
      name: `CPU of Redis for ${titles[side]}, in all`,
      value: redis.median(side),
      unit: 'µs/event',
    })),
    {
      name: `CPU of Redis, in all, ${against('job-per-event')}`,
      value: redis.ratio('runledger', 'job-per-event'),
      unit: '×',
      bar: { atMost: 0.12 },
    },
  ];
}
