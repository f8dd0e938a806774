import { Cgroup } from '../../support/cgroup.ts';
import { compare, figure, type Figure, type Rounds } from '../harness/figures.ts';
import { tokenOf, writeTokens } from '../harness/organizations.ts';
import { startIngest, startRunledgerWorker } from '../harness/sides.ts';
import { load, type Answers } from '../harness/wrk.ts';
import { World } from '../harness/world.ts';
import type { Scenario } from './scenario.ts';

/** What one organization does to the others; `alone`: nothing. */
const attacks = {
  tokens: 'bodies of 60 MiB of small tokens',
  expanding: 'batches of 48 MB that compress to nothing',
  wide: 'texts of two bytes a character in memory',
} as const;
type Attack = keyof typeof attacks;

/**
 * The same attacks on another installation of the machine, with its own servers, show what of the
 * wait is the machine's: a hostile caller of a cluster is elsewhere.
 */
const sides = [
  'alone',
  'tokens',
  'expanding',
  'wide',
  'tokens elsewhere',
  'expanding elsewhere',
  'wide elsewhere',
] as const;
type Side = (typeof sides)[number];
/** `lag`: p99 of the delay of ingest's event loop, in ms. It counts from ticks of 10 ms. */
type Measure = 'p99' | 'lag' | 'refused' | 'deaths' | 'ingestPeak' | 'workerPeak';

const mib = 1_024 * 1_024;

/** Limits of the chart, in bytes. */
const limits = { ingest: 320 * mib, worker: 512 * mib } as const;

const [quiet, hostile] = ['quiet', 'hostile'] as const;

/** The quiet organization: eight callers, about 100 events a second. */
const callers = { connections: 8, pauseMs: 80, tokens: [tokenOf(quiet)] };

/**
 * How long a quiet organization waits for its 201 beside one that means harm, and whether a process
 * of the chart's sizes dies of it.
 */
export const neighbours: Scenario = async (world, { rounds, seconds }) => {
  const tokensFile = await writeTokens(world, new Map([quiet, hostile].map((name) => [name, tokenOf(name)])));
  const found = await compare(sides, rounds, (side) => measure(world, tokensFile, side, seconds * 2));
  const names = Object.keys(attacks) as Attack[];
  return {
    figures: [
      figure('p99 of 201 of a quiet organization, alone', found.median('p99', 'alone'), 'ms'),
      figure("p99 of the delay of ingest's event loop, alone", found.median('lag', 'alone'), 'ms'),
      ...names.flatMap((name) => figuresOf(found, name)),
    ],
    notes: [
      'Ingest has 320 MiB and the worker 512 MiB, as in the chart, in control groups; the kernel counts the page cache ' +
        'in their most memory. The two cores are shared with the hostile sender, Redis, Postgres and the load generator.',
    ],
  };
};

function figuresOf(found: Rounds<Side, Measure>, side: Attack): Figure[] {
  const beside = `beside ${attacks[side]}`;
  return [
    figure(`p99 of 201 ${beside}`, found.median('p99', side), 'ms'),
    figure(`p99 of 201 ${beside}, against alone`, found.ratio('p99', side, 'alone'), '×', { atMost: 3 }),
    figure(`p99 of 201 ${beside}, sent to another installation`, found.median('p99', `${side} elsewhere`), 'ms'),
    figure(
      `p99 of 201 ${beside}, against the same sent to another installation`,
      found.ratio('p99', side, `${side} elsewhere`),
      '×',
    ),
    figure(`p99 of the delay of ingest's event loop ${beside}`, found.median('lag', side), 'ms'),
    figure('Requests of the quiet one that were refused', found.median('refused', side), 'requests', { atMost: 0 }),
    figure('Processes killed for their memory', found.median('deaths', side), 'processes', { atMost: 0 }),
    figure('Most memory of ingest', found.median('ingestPeak', side), 'MiB'),
    figure('Most memory of the worker', found.median('workerPeak', side), 'MiB'),
  ];
}

/** An installation of the chart's sizes, in control groups. */
interface Installation {
  port: number;
  opsPort: number;
  ofIngest: Cgroup;
  ofWorker: Cgroup;
}

async function measure(
  world: World,
  tokensFile: string,
  side: Side,
  seconds: number,
): Promise<Record<Measure, number>> {
  await using stack = new AsyncDisposableStack();
  const own = await install(world, tokensFile, stack);
  // Its code is compiled as it runs: the first requests of a process take longer.
  await load({ port: own.port, ...callers, seconds: 2 });
  const [attack, isElsewhere] = attackOf(side);
  const attacked = isElsewhere ? await install(stack.use(await World.start()), tokensFile, stack) : own;
  if (attack !== undefined) await startAttack(world, attack, attacked.port, stack);
  await eventLoopLag(own.opsPort);
  const answers = await load({ port: own.port, ...callers, seconds });
  const lag = await eventLoopLag(own.opsPort);
  return {
    p99: answers.p99,
    lag,
    refused: lost(answers),
    deaths: (await own.ofIngest.kills()) + (await own.ofWorker.kills()),
    ingestPeak: (await own.ofIngest.peak()) / mib,
    workerPeak: (await own.ofWorker.peak()) / mib,
  };
}

function attackOf(side: Side): [attack: Attack | undefined, isElsewhere: boolean] {
  if (side === 'alone') return [undefined, false];
  const [attack, elsewhere] = side.split(' ') as [Attack, string | undefined];
  return [attack, elsewhere !== undefined];
}

/** Starts an installation in a world. The end of the stack ends it, and empties its queues. */
async function install(world: World, tokensFile: string, stack: AsyncDisposableStack): Promise<Installation> {
  const database = await world.createDatabase();
  await world.emptyQueues();
  stack.defer(() => world.emptyQueues());
  const ofIngest = stack.use(await createGroup(limits.ingest));
  const ofWorker = stack.use(await createGroup(limits.worker));
  const ingest = await startIngest(world, { TOKENS_FILE: tokensFile }, ofIngest);
  stack.defer(() => world.end(ingest.program));
  const worker = await startRunledgerWorker(world, database, {}, ofWorker);
  stack.defer(() => world.end(worker));
  return { port: ingest.port, opsPort: ingest.opsPort, ofIngest, ofWorker };
}

const lost = ({ refused, broken }: Answers): number => refused + broken;

/** In ms, since the last call. */
async function eventLoopLag(opsPort: number): Promise<number> {
  const metrics = await (await fetch(`http://127.0.0.1:${opsPort}/metrics`)).text();
  return Number(/^nodejs_eventloop_lag_p99_seconds\{.*\} (\S+)$/m.exec(metrics)?.[1]) * 1_000;
}

async function createGroup(bytes: number): Promise<Cgroup> {
  const group = await Cgroup.create(bytes);
  if (group === undefined) throw new Error('neighbours needs the right to make control groups: run it as root');
  return group;
}

async function startAttack(world: World, kind: Attack, port: number, stack: AsyncDisposableStack): Promise<void> {
  const args = ['--kind', kind, '--port', String(port), '--token', tokenOf(hostile)];
  const program = world.program('test/bench/harness/hostile.ts', {}, [], args);
  stack.defer(() => world.end(program));
  await program.says(/^attacks$/);
}
