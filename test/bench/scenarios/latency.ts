import { figure, median, type Figure } from '../harness/figures.ts';
import type { Options } from '../harness/options.ts';
import { drained, startIngest, startRunledgerWorker, type Front } from '../harness/sides.ts';
import { until } from '../../support/until.ts';
import { acceptedBy, countEvents, verify } from '../harness/stored.ts';
import { timesUntilVisible } from '../harness/visibility.ts';
import { load, rateOf, type Answers } from '../harness/wrk.ts';
import type { World } from '../harness/world.ts';
import { atHalfTheRate } from './half-the-rate.ts';
import type { Scenario } from './scenario.ts';

/**
 * How long callers wait at half of what ingest can take, and how soon an event is stored in a quiet
 * system.
 */
export const latency: Scenario = async (world, options) => {
  const database = await world.createDatabase();
  const ingest = await startIngest(world);
  const worker = await startRunledgerWorker(world, database);
  const figures = [
    ...(await atHalfTheRate(world, database, ingest.port, options)),
    ...(await oneByOne(world, ingest.port, options)),
    ...(await inQuiet(world, ingest, database, options)),
  ];
  await world.end(ingest.program);
  await world.end(worker);
  return {
    figures,
    notes: [
      'Ingest and worker run in both. Half the rate: 256 connections with random pauses, whose mean makes half of the ' +
        'rate that the same connections reach without; "offered" is what was really sent. Before it Postgres writes down what it ' +
        'has pending from full speed (`checkpoint`).',
      'Acceptance to commit: from `created_at` until another session sees the row, asked every millisecond.',
    ],
  };
};

/**
 * A caller that sends each event when the one before has been answered, as a bot that takes no
 * chances does.
 */
async function oneByOne(world: World, port: number, { rounds, seconds }: Options): Promise<Figure[]> {
  const answers: Answers[] = [];
  for (let round = 0; round < rounds; round += 1) answers.push(await load({ port, connections: 1, seconds }));
  await drained(world, 'runledger');
  return [
    figure('One caller, one event after the other', median(answers.map(rateOf)), 'events/s'),
    figure('p50 of 201 for it', median(answers.map(({ p50 }) => p50)), 'ms'),
  ];
}

async function inQuiet(
  world: World,
  { port, opsPort }: Front & { opsPort: number },
  database: string,
  { seconds }: Options,
): Promise<Figure[]> {
  // Requests that were under way when the last load ended may still be on their way: all that is
  // accepted must be stored.
  await until('all that was accepted is stored', async () =>
    (await countEvents(database)) === (await acceptedBy(opsPort)) ? true : undefined,
  );
  await world.emptyTables(database);
  const stop = new AbortController();
  const visible = timesUntilVisible(database, stop.signal);
  // Ten connections with a mean pause of 100 ms: 100 events a second.
  const answers = await load({ port, connections: 10, seconds: seconds * 2, pauseMs: 99 });
  await drained(world, 'runledger');
  stop.abort();
  const times = await visible;
  await verify(database, answers, 10);
  const p95 = times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? Number.NaN;
  return [
    figure('In quiet, offered', rateOf(answers), 'events/s'),
    figure('p50 of 201 in quiet', answers.p50, 'ms'),
    figure('p50 from acceptance to commit in quiet', median(times), 'ms', { atMost: 20 }),
    figure('p95 from acceptance to commit in quiet', p95, 'ms'),
  ];
}
