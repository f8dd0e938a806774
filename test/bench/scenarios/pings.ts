import { compare, figure, median, type Figure, type Finding } from '../harness/figures.ts';
import { Healthchecks } from '../harness/healthchecks.ts';
import type { Options } from '../harness/options.ts';
import type { Program } from '../harness/program.ts';
import { drained, startIngest, startRunledgerWorker, type Front } from '../harness/sides.ts';
import { verify } from '../harness/stored.ts';
import { load, rateOf, type Answers } from '../harness/wrk.ts';
import type { World } from '../harness/world.ts';
import { beside } from './keys.ts';
import type { Scenario } from './scenario.ts';

/**
 * What a ping costs beside a plain event and beside Healthchecks, and a day of a big ping service
 * in small. Pings start and end runs of 200 automations.
 */
export const pings: Scenario = async (world, options) => {
  const besidePlain = await beside(world, 'ping', options, { cpu: { atMost: 2 } });
  const database = await world.createDatabase();
  const ingest = await startIngest(world);
  const worker = await startRunledgerWorker(world, database);
  const day = await dayInSmall(world, ingest.port, database, options);
  const others = await besideHealthchecks(world, ingest, worker, options);
  await Promise.all([ingest.program, worker].map((program) => world.end(program)));
  await world.emptyQueues();
  return { figures: [...besidePlain, ...day, ...others.figures], notes: [note, ...(others.notes ?? [])] };
};

const note =
  'The day: an hour is 12 seconds. Its first has twenty times the mean, for the jobs of each full hour, and two others ' +
  'have eight times the mean, for those of each minute. Each time new callers connect.';

/** The mean, in pings a second. */
const mean = 100;

/** The parts of an hour: how many times the mean, for so many seconds, from so many callers. */
const parts = {
  'in the second of each hour': { times: 20, seconds: 1, connections: 256 },
  'in that of each minute': { times: 8, seconds: 1, connections: 256 },
  between: { times: 1, seconds: 3, connections: 64 },
} as const;

type Part = keyof typeof parts;

const hour: readonly Part[] = [
  'in the second of each hour',
  'between',
  'in that of each minute',
  'between',
  'in that of each minute',
  'between',
];

/** Nothing is refused, lost or doubled. */
async function dayInSmall(world: World, port: number, database: string, { rounds }: Options): Promise<Figure[]> {
  const found = new Map<Part, Answers[]>();
  // What compiles at the start is not the day's.
  await load({ port, connections: 64, seconds: 3, kind: 'ping' });
  for (let round = 0; round < rounds; round += 1) {
    for (const part of hour) {
      const { times, seconds, connections } = parts[part];
      const pauseMs = Math.round((connections / (times * mean)) * 1_000);
      const answers = await load({ port, connections, seconds, pauseMs, kind: 'told' });
      found.set(part, [...(found.get(part) ?? []), answers]);
    }
  }
  await drained(world, 'runledger');
  const all = [...found.values()].flat();
  const sum = (of: (answers: Answers) => number): number => sumOf(all.map(of));
  const sent = { accepted: sum((each) => each.accepted), refused: sum((each) => each.refused) };
  const unanswered = [...found].reduce((before, [part, each]) => before + parts[part].connections * each.length, 0);
  const totals = { ...(all[0] as Answers), ...sent, broken: sum((each) => each.broken) };
  // The START that Runledger adds to an end without one has no text.
  const stored = await verify(database, totals, unanswered, { which: `description <> ''` });
  const lost = Math.max(0, sent.accepted - stored);
  return [
    ...[...found].flatMap(([part, each]) => [
      figure(`A day of pings, offered ${part}`, median(each.map(rateOf)), 'a second'),
      figure(`A day of pings, p99 ${part}`, median(each.map(({ p99 }) => p99)), 'ms', { atMost: 10 }),
    ]),
    figure('A day of pings, lost', lost, 'pings', { atMost: 0 }),
  ];
}

/** Where pings go, and the CPU time of all parts that serve them but Postgres, in ms. */
interface Side {
  readonly ports: readonly number[];
  cpu(): Promise<number>;
}

/**
 * Pings at full speed: to Healthchecks as its image runs it, and to Runledger with the two ingests
 * of its chart. A 200 is a receipt, so Runledger is measured twice: it stores the pings after the
 * load, as it does in a rush, or during it. The CPU time always includes that.
 */
async function besideHealthchecks(
  world: World,
  ingest: Front,
  worker: Program,
  { rounds, seconds }: Options,
): Promise<Finding> {
  await using healthchecks = await Healthchecks.start(world);
  if (healthchecks === undefined) return { figures: [], notes: ['Healthchecks could not be installed here.'] };
  const second = await startIngest(world);
  const programs = [ingest.program, second.program, worker];
  const runledger: Side = {
    ports: [ingest.port, second.port],
    cpu: async () => sumOf(await Promise.all([world.redisCpu(), ...programs.map((program) => program.cpu())])),
  };
  const sides = {
    after: runledger,
    during: runledger,
    healthchecks: { ports: [healthchecks.port], cpu: () => healthchecks.cpu() },
  };
  const found = await compare(
    ['after', 'during', 'healthchecks'] as const,
    rounds,
    async (side) => {
      const { ports, ...measured } = sides[side];
      const all = async (): Promise<number> => (await measured.cpu()) + (await world.postgresCpu());
      const before = await all();
      if (side === 'after') worker.freeze();
      const connections = 64 / ports.length;
      const answers = await Promise.all(ports.map((port) => load({ port, connections, seconds, kind: 'ping' })));
      worker.thaw();
      const bad = sumOf(answers.map(({ refused, broken }) => refused + broken));
      if (bad > 0) throw new Error(`${side}: ${bad} pings refused`);
      await drained(world, 'runledger');
      await world.postgresIdle();
      const pings = sumOf(answers.map(({ accepted }) => accepted));
      return { rate: sumOf(answers.map(rateOf)), cpu: ((await all()) - before) / pings };
    },
    { warmUp: true },
  );
  await world.end(second.program);
  return {
    figures: [
      figure('Pings that Healthchecks answers', found.median('rate', 'healthchecks'), 'a second'),
      figure('Pings that Runledger answers', found.median('rate', 'after'), 'a second'),
      figure('Pings that Runledger answers, while it stores them', found.median('rate', 'during'), 'a second'),
      figure('Pings against Healthchecks', found.ratio('rate', 'after', 'healthchecks'), '×', { atLeast: 40 }),
      figure('CPU for a ping in all, Healthchecks', found.median('cpu', 'healthchecks'), 'ms'),
      figure('CPU for a ping in all, Runledger', found.median('cpu', 'after'), 'ms'),
      figure('CPU for a ping in all, Runledger, stored at once', found.median('cpu', 'during'), 'ms'),
    ],
  };
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
