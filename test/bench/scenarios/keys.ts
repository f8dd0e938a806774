import { compare, figure, type Bar, type Figure, type Rounds } from '../harness/figures.ts';
import type { Options } from '../harness/options.ts';
import { startIngest, type Front } from '../harness/sides.ts';
import { load, rateOf } from '../harness/wrk.ts';
import type { World } from '../harness/world.ts';
import type { Scenario } from './scenario.ts';

/** What a caller sends. */
type Kind = 'plain' | 'keyed' | 'ping';

/** CPU time a request of ingest and of Redis, in µs; requests a second; refusals in a thousand. */
type Measure = 'cpu' | 'redis' | 'rate' | 'refused';

const titles: Record<Kind, string> = {
  plain: 'a plain event',
  keyed: 'an event with an Idempotency-Key',
  ping: 'a ping',
};

/** Turns of a round: see `ingest`. */
const turnsInOne = 3;

/** What safe retries cost: events with an Idempotency-Key beside plain ones, at one ingest. */
export const keys: Scenario = async (world, options) => ({
  figures: await beside(world, 'keyed', options, { cpu: { atMost: 1.3 }, redis: { atMost: 2.5 } }),
});

/** Requests of a kind beside plain events, at one ingest. */
export async function beside(
  world: World,
  kind: Exclude<Kind, 'plain'>,
  options: Options,
  bars: { cpu: Bar; redis?: Bar },
): Promise<Figure[]> {
  const [rounds, seconds] = [options.rounds * turnsInOne, Math.ceil(options.seconds / turnsInOne)];
  const front = await startIngest(world);
  const sides = ['plain', kind] as const;
  const figures: Figure[] = [];
  for (const connections of [64, 256]) {
    for (const side of sides) await load({ port: front.port, connections, seconds, kind: side });
    const found = await compare(sides, rounds, async (side) => {
      await world.emptyQueues();
      return measure(world, front, connections, seconds, side);
    });
    figures.push(...figuresOf(`at ${connections} connections`, kind, found, bars));
  }
  await world.end(front.program);
  await world.emptyQueues();
  return figures;
}

async function measure(
  world: World,
  { program, port }: Front,
  connections: number,
  seconds: number,
  kind: Kind,
): Promise<Record<Measure, number>> {
  const before = [await program.cpu(), await world.redisCpu()] as const;
  const answers = await load({ port, connections, seconds, kind });
  const after = [await program.cpu(), await world.redisCpu()] as const;
  if (answers.broken > 0) throw new Error(`${answers.broken} requests broken`);
  const each = (ms: number): number => (ms * 1_000) / answers.accepted;
  const refused = (answers.refused * 1_000) / (answers.accepted + answers.refused);
  return { cpu: each(after[0] - before[0]), redis: each(after[1] - before[1]), rate: rateOf(answers), refused };
}

function figuresOf(
  at: string,
  kind: Kind,
  found: Rounds<'plain' | Kind, Measure>,
  bars: { cpu: Bar; redis?: Bar },
): Figure[] {
  const [mine, plain] = [titles[kind], titles.plain];
  return [
    figure(`CPU of ingest for ${plain} ${at}`, found.median('cpu', 'plain'), 'µs'),
    figure(`CPU of ingest for ${mine} ${at}`, found.median('cpu', kind), 'µs'),
    figure(`CPU of ingest, ${mine} against ${plain} ${at}`, found.ratio('cpu', kind, 'plain'), '×', bars.cpu),
    figure(`CPU of Redis for ${plain} ${at}`, found.median('redis', 'plain'), 'µs'),
    figure(`CPU of Redis for ${mine} ${at}`, found.median('redis', kind), 'µs'),
    figure(`CPU of Redis, ${mine} against ${plain} ${at}`, found.ratio('redis', kind, 'plain'), '×', bars.redis),
    figure(`Ingest takes, ${plain} ${at}`, found.median('rate', 'plain'), 'a second'),
    figure(`Ingest takes, ${mine} ${at}`, found.median('rate', kind), 'a second'),
    figure(`Refused of a thousand, ${mine} ${at}`, found.median('refused', kind), '', { atMost: 0 }),
  ];
}
