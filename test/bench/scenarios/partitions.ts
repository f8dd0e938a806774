import { compare, figure, type Figure } from '../harness/figures.ts';
import type { Options } from '../harness/options.ts';
import { tokenOf, writeTokens } from '../harness/organizations.ts';
import { drainQueue } from '../harness/drains.ts';
import { partitionBesideWorkers } from '../harness/partition-beside-workers.ts';
import { startIngest } from '../harness/sides.ts';
import { verify } from '../harness/stored.ts';
import { fill } from '../harness/wrk.ts';
import type { World } from '../harness/world.ts';
import type { Scenario } from './scenario.ts';

/** `executions` as one table, and in partitions. */
type Side = 'one' | 'partitioned';

const sides = ['one', 'partitioned'] as const;

const organizations = Array.from({ length: 20 }, (_, index) => `organization-${index}`);

/**
 * What the partitions of `executions` cost the worker, with events of one organization and of 20;
 * how long a move of many executions takes beside ingest and a worker, and how long these wait.
 */
export const partitions: Scenario = async (world, options) => {
  const databases = {
    one: await world.createDatabase({ unpartitioned: true }),
    partitioned: await world.createDatabase(),
  };
  return {
    figures: [
      ...(await drains(world, databases, organizations.slice(0, 1), options)),
      ...(await drains(world, databases, organizations, options)),
      ...(await partitionBesideWorkers(world, options)),
    ],
  };
};

async function drains(
  world: World,
  databases: Record<Side, string>,
  callers: string[],
  { rounds, drainEvents }: Options,
): Promise<Figure[]> {
  const tokens = new Map(callers.map((organization) => [organization, tokenOf(organization)]));
  const ingest = await startIngest(world, { TOKENS_FILE: await writeTokens(world, tokens) });
  const found = await compare(
    sides,
    rounds,
    async (side) => {
      const database = databases[side];
      await world.emptyTables(database);
      const answers = await fill(ingest.port, 256, drainEvents, [...tokens.values()]);
      const cpu = await world.postgresCpu();
      const rate = await drainQueue(world, 'runledger', database);
      const spent = (await world.postgresCpu()) - cpu;
      const events = await verify(database, answers, 256 * answers.loads);
      return { rate, cpu: spent / events };
    },
    { warmUp: true },
  );
  await world.end(ingest.program);
  const of = callers.length === 1 ? 'one organization' : `${callers.length} organizations`;
  return [
    figure(`Drain of ${of}, executions in one table`, found.median('rate', 'one'), 'events/s'),
    figure(`Drain of ${of}, executions in partitions`, found.median('rate', 'partitioned'), 'events/s'),
    figure(`Drain of ${of}, partitions against one table`, found.ratio('rate', 'partitioned', 'one'), '×', {
      atLeast: 0.95,
    }),
    figure(`CPU of Postgres for ${of}, partitions against one table`, found.ratio('cpu', 'partitioned', 'one'), '×'),
  ];
}
