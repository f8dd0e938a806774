import { compare, figure, median, type Figure, type Finding } from '../harness/figures.ts';
import { Healthchecks } from '../harness/healthchecks.ts';
import type { Options } from '../harness/options.ts';
import { drained, startIngest, startRunledgerWorker } from '../harness/sides.ts';
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
  const programs = [ingest.program, worker];
  const cpu = async (): Promise<number> => {
    const times = await Promise.all([world.redisCpu(), ...programs.map((program) => program.cpu())]);
    return times.reduce((sum, time) => sum + time);
  };
  const others = await besideHealthchecks(world, { port: ingest.port, cpu }, options);
  await Promise.all(programs.map((program) => world.end(program)));
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
  const sum = (of: (answers: Answers) => number): number => all.reduce((before, each) => before + of(each), 0);
  const sent = { accepted: sum((each) => each.accepted), refused: sum((each) => each.refused) };
  const unanswered = [...found].reduce((before, [part, each]) => before + parts[part].connections * each.length, 0);
  const totals = { ...(all[0] as Answers), ...sent, broken: sum((each) => each.broken) };
  // The START that Runledger adds to an end without one has no text.
  const stored = await verify(database, totals, unanswered, `description <> ''`);
  const lost = Math.max(0, sent.accepted - stored);
  return [
    ...[...found].flatMap(([part, each]) => [
      figure(`A day of pings, offered ${part}`, median(each.map(rateOf)), 'a second'),
      figure(`A day of pings, p99 ${part}`, median(each.map(({ p99 }) => p99)), 'ms', { atMost: 10 }),
    ]),
    figure('A day of pings, lost', lost, 'pings', { atMost: 0 }),
  ];
}

/** A process that takes pings, and the CPU time of all its parts but Postgres, in ms. */
interface Side {
  readonly port: number;
  cpu(): Promise<number>;
}

/** Pings at full speed, while they are stored. */
async function besideHealthchecks(world: World, ours: Side, { rounds, seconds }: Options): Promise<Finding> {
  await using healthchecks = await Healthchecks.start(world);
  if (healthchecks === undefined) return { figures: [], notes: ['Healthchecks could not be installed here.'] };
  const sides = { runledger: ours, healthchecks };
  const found = await compare(
    ['runledger', 'healthchecks'] as const,
    rounds,
    async (side) => {
      const { port } = sides[side];
      const all = async (): Promise<number> => (await sides[side].cpu()) + (await world.postgresCpu());
      const before = await all();
      const answers = await load({ port, connections: 64, seconds, kind: 'ping' });
      if (answers.refused + answers.broken > 0) throw new Error(`${side}: ${answers.refused} pings refused`);
      await drained(world, 'runledger');
      await world.postgresIdle();
      return { rate: rateOf(answers), cpu: ((await all()) - before) / answers.accepted };
    },
    { warmUp: true },
  );
  return {
    figures: [
      figure('Pings that Healthchecks answers', found.median('rate', 'healthchecks'), 'a second'),
      figure('Pings that Runledger answers, while it stores them', found.median('rate', 'runledger'), 'a second'),
      figure('Pings against Healthchecks', found.ratio('rate', 'runledger', 'healthchecks'), '×', { atLeast: 40 }),
      figure('CPU for a ping in all, Healthchecks', found.median('cpu', 'healthchecks'), 'ms'),
      figure('CPU for a ping in all, Runledger', found.median('cpu', 'runledger'), 'ms'),
    ],
  };
}
