import { compare, figure, type Figure, type Rounds } from '../harness/figures.ts';
import type { Program } from '../harness/program.ts';
import { drained, startFront, startWorker, titles } from '../harness/sides.ts';
import { verify } from '../harness/stored.ts';
import { load } from '../harness/wrk.ts';
import type { World } from '../harness/world.ts';
import type { Scenario } from './scenario.ts';

const sides = ['naive', 'job-per-event', 'runledger'] as const;
type Side = (typeof sides)[number];
const connections = 64;

/** A whole side: what takes events, what stores them, and where. */
interface Pipeline {
  side: Side;
  database: string;
  port: number;
  programs: Program[];
}

/**
 * From the first request until the last outcome is committed: how many events a second, and at what
 * cost in all.
 */
export const pipeline: Scenario = async (world, { rounds, seconds }) => {
  const pipelines = {} as Record<Side, Pipeline>;
  for (const side of sides) pipelines[side] = await startPipeline(world, side);
  const found = await compare(sides, rounds, (side) => measure(world, pipelines[side], seconds), { warmUp: true });
  const programs = Object.values(pipelines).flatMap((each) => each.programs);
  await Promise.all(programs.map((program) => world.end(program)));
  return { figures: figuresOf(found) };
};

async function startPipeline(world: World, side: Side): Promise<Pipeline> {
  const database = await world.createDatabase();
  const { program, port } = await startFront(world, side, database);
  const worker = await startWorker(world, side, database);
  return { side, database, port, programs: worker === undefined ? [program] : [program, worker] };
}

/**
 * Events a second; events for a second of CPU time of front, worker, Redis and Postgres together;
 * CPU time of Redis per event, from its first request until its job is gone, in µs.
 */
type Measure = 'rate' | 'perCpuSecond' | 'redis';

async function measure(
  world: World,
  { side, database, port, programs }: Pipeline,
  seconds: number,
): Promise<Record<Measure, number>> {
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
  const events = await verify(database, answers, connections, { by: side });
  return {
    rate: (events / took) * 1_000,
    perCpuSecond: (events / (after.all - before.all)) * 1_000,
    redis: ((after.redis - before.redis) * 1_000) / events,
  };
}

function figuresOf(found: Rounds<Side, Measure>): Figure[] {
  const job = titles['job-per-event'];
  const against = (measure: Measure, side: Side): number => found.ratio(measure, 'runledger', side);
  return [
    ...sides.map((side) => figure(`${titles[side]} stores`, found.median('rate', side), 'events/s')),
    ...sides.map((side) =>
      figure(`${titles[side]} stores for a second of CPU`, found.median('perCpuSecond', side), 'events/CPU s'),
    ),
    figure(`Throughput against ${job}`, against('rate', 'job-per-event'), '×', { atLeast: 8 }),
    figure(`Throughput against ${titles.naive}`, against('rate', 'naive'), '×', { atLeast: 2.5 }),
    figure(`Events for a second of CPU against ${job}`, against('perCpuSecond', 'job-per-event'), '×', { atLeast: 3 }),
    figure(`CPU of Redis for ${job}, in all`, found.median('redis', 'job-per-event'), 'µs/event'),
    figure(`CPU of Redis for ${titles.runledger}, in all`, found.median('redis', 'runledger'), 'µs/event'),
    figure(`CPU of Redis, in all, against ${job}`, against('redis', 'job-per-event'), '×', { atMost: 0.12 }),
  ];
}
