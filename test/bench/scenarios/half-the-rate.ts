import { Rounds, turns, type Figure } from '../harness/figures.ts';
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
  const [most, fsync] = [new Rounds<Side>(), new Rounds<Side>()];
  const [offered, p50, p99] = [new Rounds<Side>(), new Rounds<Side>(), new Rounds<Side>()];
  for (const side of sides) await load({ port: ports[side], connections, seconds: seconds * 2 });
  for (let round = 0; round < rounds; round += 1) {
    await drained(world, 'runledger');
    const rate = rateOf(await load({ port: ingestPort, connections, seconds }));
    most.add('runledger', rate);
    for (const side of turns(sides, round)) {
      const [answers, longestFsync] = await paced(world, database, ports[side], rate / 2, seconds * 4);
      offered.add(side, rateOf(answers));
      p50.add(side, answers.p50);
      p99.add(side, answers.p99);
      fsync.add(side, longestFsync);
    }
  }
  await drained(world, 'runledger');
  await world.end(file.program);
  return [
    { name: 'Most that is accepted while it is stored', value: most.median('runledger'), unit: 'events/s' },
    { name: 'Half of it, offered', value: offered.median('runledger'), unit: 'events/s' },
    { name: 'p50 of 201 then', value: p50.median('runledger'), unit: 'ms' },
    { name: 'p99 of 201 then', value: p99.median('runledger'), unit: 'ms', bar: { atMost: 10 } },
    { name: 'Longest fsync of Redis then', value: fsync.median('runledger'), unit: 'ms' },
    { name: `The same, offered to ${titles.file}`, value: offered.median('file'), unit: 'events/s' },
    { name: `p50 of ${titles.file}`, value: p50.median('file'), unit: 'ms' },
    { name: `p99 of ${titles.file}`, value: p99.median('file'), unit: 'ms' },
    { name: `p99 against ${titles.file}`, value: p99.ratio('runledger', 'file'), unit: '×' },
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
