import { largest, seedRecord } from '../../support/seed-record.ts';
import { drainQueue, fillQueue } from '../harness/drains.ts';
import { compare, figure, percentile, type Figure, type Finding } from '../harness/figures.ts';
import { keepQueue } from '../harness/keep-queue.ts';
import type { Options } from '../harness/options.ts';
import { get, readMeanwhile, readsOf } from '../harness/reads.ts';
import { drained, startConsole, startRunledgerWorker } from '../harness/sides.ts';
import { deleteSince, shareInPlace, updatesOf } from '../harness/stored.ts';
import type { World } from '../harness/world.ts';
import type { Scenario } from './scenario.ts';

const days = 30;
const perSecond = 20;

/**
 * How long readers wait while a worker drains a queue, with many events stored; and how much
 * readers of the heaviest kind slow the worker.
 */
export const read: Scenario = async (world, options) => {
  const database = await world.createDatabase();
  await seedRecord(database, { executions: options.readEvents / 5, days });
  return measureReads(world, database, options);
};

/** With a database that is filled. */
export async function measureReads(world: World, database: string, options: Options): Promise<Finding> {
  const console = await startConsole(world, database);
  const before = await updatesOf(database);
  const latencies = await latenciesDuringDrains(world, database, console.port, options);
  const inPlace = shareInPlace(before, await updatesOf(database));
  const heavy = await drainsBesideReaders(world, database, console.port, options);
  await world.end(console.program);
  return {
    figures: [
      ...latencyFigures(latencies),
      figure(`Updates of executions in place, beside ${perSecond} reads a second`, inPlace, '%'),
      ...heavy,
    ],
  };
}

/** Fills the queue. The result drains it, and resolves with the rate. */
async function prepareDrain(world: World, database: string, events: number): Promise<() => Promise<number>> {
  await world.checkpoint(database);
  const since = new Date();
  await fillQueue(world, 'runledger', database, events);
  return () => drainQueue(world, 'runledger', database, since);
}

/**
 * The latencies by kind. Each round drains the same queue into the same record: the record stays as
 * large as it is.
 */
async function latenciesDuringDrains(
  world: World,
  database: string,
  port: number,
  { readSamples, readDrainEvents }: Options,
): Promise<Map<string, number[]>> {
  const reads = await readsOf(port);
  for (const { path } of reads) await get(port, path);
  const latencies = new Map<string, number[]>(reads.map(({ name }) => [name, []]));
  const since = new Date();
  await fillQueue(world, 'runledger', database, readDrainEvents);
  const queue = await keepQueue(world.redis);
  for (;;) {
    await world.checkpoint(database);
    const worker = await startRunledgerWorker(world, database);
    const measured = await readMeanwhile(port, reads, perSecond, drained(world, 'runledger'));
    // The first moments of a drain are not always read by the same kinds.
    reads.push(...reads.splice(0, 5));
    await world.end(worker);
    for (const [name, values] of measured) latencies.get(name)?.push(...values);
    await deleteSince(database, largest, since);
    if (samplesOf(latencies) >= readSamples) break;
    await queue.refill();
  }
  await queue.forget();
  return latencies;
}

/** How many each kind has at least. */
function samplesOf(latencies: ReadonlyMap<string, number[]>): number {
  return Math.min(...[...latencies.values()].map(({ length }) => length));
}

function latencyFigures(latencies: ReadonlyMap<string, number[]>): Figure[] {
  const all = [...latencies.values()].flat();
  const kinds = [...latencies].map(([name, values]) => ({ name, p99: percentile(values, 0.99) }));
  kinds.sort((a, b) => b.p99 - a.p99);
  return [
    figure(`Reads at ${perSecond} a second, measured`, all.length, 'requests'),
    figure('Of each kind, at least', samplesOf(latencies), 'requests'),
    figure('p50 of a read', percentile(all, 0.5), 'ms'),
    figure('p99 of a read', percentile(all, 0.99), 'ms', { atMost: 50 }),
    figure('p99 of the slowest kind', kinds[0]?.p99 ?? Number.NaN, 'ms', { atMost: 50 }),
    ...kinds.map(({ name, p99 }) => figure(`p99 of ${name}`, p99, 'ms')),
  ];
}

/** As many as one token may have at once: searches, and figures of a month. */
const heavyReads = [
  '/v1/executions/?q=not+to+be+found',
  '/v1/events/?q=not+to+be+found',
  '/v1/errors/?window=720h',
  '/v1/automations/?window=720h&limit=200',
];

async function drainsBesideReaders(
  world: World,
  database: string,
  port: number,
  { rounds, drainEvents }: Options,
): Promise<Figure[]> {
  const rates = await compare(['alone', 'beside'] as const, rounds, async (side) => {
    const drain = await prepareDrain(world, database, drainEvents);
    const over = new AbortController();
    const readers = (side === 'alone' ? [] : heavyReads).map(async (path) => {
      // One that takes too long gets 503, and asks again.
      while (!over.signal.aborted) await get(port, path).catch(() => undefined);
    });
    const rate = await drain();
    over.abort();
    await Promise.all(readers);
    return { rate };
  });
  return [
    figure('Drain without readers', rates.median('rate', 'alone'), 'events/s'),
    figure(`Drain beside ${heavyReads.length} heavy readers`, rates.median('rate', 'beside'), 'events/s'),
    figure('Beside heavy readers against without', rates.ratio('rate', 'beside', 'alone'), '×'),
  ];
}
