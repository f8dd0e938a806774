import { figure, median, Rounds, turns, type Figure } from '../harness/figures.ts';
import type { Options } from '../harness/options.ts';
import { drained, startFront, titles } from '../harness/sides.ts';
import { load, rateOf, type Answers } from '../harness/wrk.ts';
import type { World } from '../harness/world.ts';

const connections = 256;
const sides = ['runledger', 'file'] as const;
type Side = (typeof sides)[number];

/**
 * How long callers wait at half of what ingest has taken a moment before; and at the same rate for
 * a server that writes to a file and does nothing else, which is the part of loopback, load
 * generator and disk.
 */
export async function atHalfTheRate(
  world: World,
  database: string,
  ingestPort: number,
  { rounds, seconds }: Options,
): Promise<Figure[]> {
  const file = await startFront(world, 'file', database);
  const ports: Record<Side, number> = { runledger: ingestPort, file: file.port };
  const most: number[] = [];
  const found = new Rounds<Side, 'offered' | 'p50' | 'p99' | 'fsync'>();
  for (const side of sides) await load({ port: ports[side], connections, seconds: seconds * 2 });
  for (let round = 0; round < rounds; round += 1) {
    await drained(world, 'runledger');
    const rate = rateOf(await load({ port: ingestPort, connections, seconds }));
    most.push(rate);
    for (const side of turns(sides, round)) {
      const [answers, fsync] = await paced(world, database, ports[side], rate / 2, seconds * 4);
      found.add(side, { offered: rateOf(answers), p50: answers.p50, p99: answers.p99, fsync });
    }
  }
  await drained(world, 'runledger');
  await world.end(file.program);
  return [
    figure('Most that is accepted while it is stored', median(most), 'events/s'),
    figure('Half of it, offered', found.median('offered', 'runledger'), 'events/s'),
    figure('p50 of 201 then', found.median('p50', 'runledger'), 'ms'),
    figure('p99 of 201 then', found.median('p99', 'runledger'), 'ms', { atMost: 10 }),
    figure('Longest fsync of Redis then', found.median('fsync', 'runledger'), 'ms'),
    figure(`The same, offered to ${titles.file}`, found.median('offered', 'file'), 'events/s'),
    figure(`p50 of ${titles.file}`, found.median('p50', 'file'), 'ms'),
    figure(`p99 of ${titles.file}`, found.median('p99', 'file'), 'ms'),
    figure(`p99 against ${titles.file}`, found.ratio('p99', 'runledger', 'file'), '×'),
  ];
}

/**
 * Resolves with what callers saw at so many events a second, and with the longest that Redis waited
 * for its disk then, in ms.
 */
async function paced(
  world: World,
  database: string,
  port: number,
  rate: number,
  seconds: number,
): Promise<[Answers, number]> {
  const pauseMs = await pauseFor(port, rate);
  await drained(world, 'runledger');
  // What full speed has left in the system's page cache would be written, all at once, while others
  // wait for the same disk.
  await world.checkpoint(database);
  // Long enough that the moment in which all callers connect is not what the 99th percentile shows.
  return world.notingFsyncs(() => load({ port, connections, seconds, pauseMs }));
}

/**
 * The pause of a connection, in ms, at which all of them send so many events a second: guessed,
 * tried and set right.
 */
async function pauseFor(port: number, rate: number): Promise<number> {
  const cycleMs = Math.round((connections / rate) * 1_000);
  const tried = await load({ port, connections, seconds: 2, pauseMs: cycleMs });
  const triedCycleMs = (connections / rateOf(tried)) * 1_000;
  const answerMs = triedCycleMs - cycleMs;
  return Math.max(1, Math.round((connections / rate) * 1_000 - answerMs));
}
