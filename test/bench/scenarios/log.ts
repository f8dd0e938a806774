import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { sealerLimits } from '../../../internal/worker/seal-schedule.ts';
import { query } from '../../support/postgres-server.ts';
import { logKey } from '../../support/sealed-ledger.ts';
import { until } from '../../support/until.ts';
import { compare, compareAtOnce, figure, type Figure } from '../harness/figures.ts';
import type { Program } from '../harness/program.ts';
import { drained, startIngest, startRunledgerWorker, type Front } from '../harness/sides.ts';
import { acceptedInAll, drainRate, eventsPerStatement, verify } from '../harness/stored.ts';
import { fill, load, rateOf } from '../harness/wrk.ts';
import type { World } from '../harness/world.ts';
import type { Scenario } from './scenario.ts';

const sides = ['without', 'with'] as const;
type Side = (typeof sides)[number];

/**
 * About 3,100 events a second a side. Both sides run at the same time: in turns, two equal sides
 * differed by up to 14 % in the median of three rounds, because the speed of the machine changes
 * within a minute.
 */
const flow = { connections: 100, pauseMs: 28 };

/** So many times a load of other scenarios: an event still becomes cheaper after 200,000 others. */
const flowLoads = 12;

/** An ingest and a worker with a database of their own in Redis and in Postgres. */
interface Taken {
  ingest: Front & { opsPort: number };
  worker: Program;
  redis: Redis;
  database: string;
}

/**
 * What the log costs: a worker with LEDGER_KEY beside one without, in a steady flow and in a drain,
 * and an ingest with LEDGER_DIGESTS. Both sides run all the time. In drains they take turns.
 */
export const log: Scenario = async (world, { rounds, seconds, drainEvents }) => {
  const taken: Record<Side, Taken> = {
    without: await start(world, 1),
    with: await start(world, 2, { ingest: { LEDGER_DIGESTS: 'true' }, worker: { LEDGER_KEY: logKey } }),
  };
  const flows = await compareAtOnce(
    sides,
    rounds,
    (side) => measureFlow(world, taken[side], seconds * flowLoads),
    (side) => world.emptyTables(taken[side].database),
  );
  const drains = await compare(sides, rounds, (side) => measureDrain(world, taken[side], drainEvents));
  for (const one of Object.values(taken)) await end(world, one);
  const each = (title: string, of: (side: Side) => number, unit: string): Figure[] =>
    sides.map((side) => figure(`${title} ${side} LEDGER_KEY`, of(side), unit));
  return {
    figures: [
      ...each('A steady flow', (side) => flows.median('rate', side), 'events/s'),
      ...each('Events of a statement in it', (side) => flows.median('statement', side), 'events'),
      ...each('CPU of the worker in it', (side) => flows.median('worker', side), 'µs/event'),
      ...each('CPU of ingest in it', (side) => flows.median('ingest', side), 'µs/event'),
      figure(
        'CPU of the worker in a steady flow, with against without',
        flows.ratio('worker', 'with', 'without'),
        '×',
        {
          atMost: 1.12,
        },
      ),
      ...each('A drain', (side) => drains.median('rate', side), 'events/s'),
      ...each('CPU of the worker in it until it is over', (side) => drains.median('worker', side), 'µs/event'),
      figure('CPU of the worker until the log is sealed', drains.median('sealed', 'with'), 'µs/event'),
      figure('Rate of a drain, with against without', drains.ratio('rate', 'with', 'without'), '×', { atLeast: 0.92 }),
      figure('CPU of the worker in a drain, the same', drains.ratio('worker', 'with', 'without'), '×', {
        atMost: 1.12,
      }),
      figure('CPU of Postgres in a drain, the same', drains.ratio('postgres', 'with', 'without'), '×'),
    ],
  };
};

/** Starts a side, and has it do some work: what compiles at the start is not an event's cost. */
export async function start(
  world: World,
  number: number,
  own: { ingest?: Record<string, string>; worker?: Record<string, string> } = {},
): Promise<Taken> {
  const redisUrl = `${world.redisUrl}/${number}`;
  const database = await world.createDatabase();
  const ingest = await startIngest(world, { ...own.ingest, REDIS_URL: redisUrl });
  const taken = {
    ingest,
    worker: await startRunledgerWorker(world, database, { ...own.worker, REDIS_URL: redisUrl }),
    redis: new Redis(redisUrl),
    database,
  };
  await fill(ingest.port, flow.connections, 50_000);
  await drained(world, 'runledger', taken.redis);
  await sealed(taken);
  // No event is older than the log: there is nothing to look for later.
  return taken;
}

export async function end(world: World, { ingest, worker, redis }: Taken): Promise<void> {
  await world.end(ingest.program);
  await world.end(worker);
  redis.disconnect();
}

/**
 * What an event costs until its side has sealed all of them. Both sides are at rest for ten seconds
 * after the load, since the last events may wait so long for their checkpoint.
 */
async function measureFlow(world: World, taken: Taken, seconds: number) {
  const { ingest, worker, redis, database } = taken;
  const cpu = async () => ({ worker: await worker.cpu(), ingest: await ingest.program.cpu() });
  const before = await cpu();
  const answers = await load({ port: ingest.port, seconds, ...flow });
  await drained(world, 'runledger', redis);
  await sleep(sealerLimits.intervalMs);
  await sealed(taken);
  const after = await cpu();
  const events = await verify(database, answers, flow.connections);
  const perEvent = (ms: number): number => (ms * 1_000) / events;
  return {
    rate: rateOf(answers),
    statement: await eventsPerStatement(database),
    worker: perEvent(after.worker - before.worker),
    ingest: perEvent(after.ingest - before.ingest),
  };
}

/** What an event costs while the worker drains a backlog, and once the log is sealed, too. */
export async function measureDrain(world: World, taken: Taken, backlog: number) {
  const { ingest, worker, redis, database } = taken;
  await world.emptyTables(database);
  worker.freeze();
  const answers = await fill(ingest.port, 256, backlog);
  await acceptedInAll(ingest.opsPort);
  const before = { worker: await worker.cpu(), postgres: await world.postgresCpu() };
  worker.thaw();
  await drained(world, 'runledger', redis);
  const after = { worker: await worker.cpu(), postgres: await world.postgresCpu() };
  await sealed(taken);
  const later = await worker.cpu();
  const events = await verify(database, answers, 256 * answers.loads);
  const perEvent = (ms: number): number => (ms * 1_000) / events;
  return {
    rate: await drainRate(database),
    worker: perEvent(after.worker - before.worker),
    sealed: perEvent(later - before.worker),
    postgres: perEvent(after.postgres - before.postgres),
  };
}

/** Resolves once no leaf waits for its place. */
async function sealed({ database }: Taken): Promise<void> {
  const waiting = async (): Promise<boolean> =>
    (await query(database, 'select from log_segments limit 1')).length === 0;
  await until('no leaf waits for its place in the log', waiting, 120_000, 200);
}
