import { Redis } from 'ioredis';
import { queueKey } from '../../../internal/queue/keys/keys.ts';
import { freePort } from '../../support/free-port.ts';
import { RedisServer } from '../../support/redis-server.ts';
import { until } from '../../support/until.ts';
import { cpuTime } from '../harness/cpu.ts';
import { compare, figure } from '../harness/figures.ts';
import type { Program } from '../harness/program.ts';
import { startIngest, type Front } from '../harness/sides.ts';
import { load, rateOf } from '../harness/wrk.ts';
import type { World } from '../harness/world.ts';
import type { Scenario } from './scenario.ts';

/** How many Redis a side has, and how many ingests. */
const shapes = {
  'one Redis': { redis: 1, pods: 1 },
  'four Redis': { redis: 4, pods: 4 },
  'one Redis for four': { redis: 1, pods: 4 },
};
type Side = keyof typeof shapes;
const sides = ['one Redis', 'four Redis', 'one Redis for four'] as const;

/** The load of each ingest: about 1,000 events a second. */
const loadOfPod = { connections: 16, pauseMs: 16 };

interface Taken {
  servers: RedisServer[];
  clients: Redis[];
  pids: number[];
  fronts: Front[];
  worker: Program;
}

/**
 * What shards of the queue cost in Redis, from request to Postgres: four Redis with four times the
 * load of one; and one Redis with all of that load, which syncs its disk once for all four ingests.
 */
export const shards: Scenario = async (world, { rounds, seconds }) => {
  const taken = {} as Record<Side, Taken>;
  for (const side of sides) taken[side] = await start(world, shapes[side]);
  const found = await compare(sides, rounds, (side) => measure(taken[side], seconds * 2), { warmUp: true });
  for (const { servers, clients, fronts, worker } of Object.values(taken)) {
    for (const program of [worker, ...fronts.map((front) => front.program)]) await world.end(program);
    for (const client of clients) client.disconnect();
    await Promise.all(servers.map((server) => server.stop()));
  }
  const [one, four, oneForFour] = sides;
  return {
    figures: [
      ...sides.map((side) => figure(`Load of ${side}`, found.median('rate', side), 'events/s')),
      ...sides.map((side) => figure(`CPU of Redis, ${side}`, found.median('redis', side), 'µs/event')),
      ...sides.map((side) => figure(`CPU of the worker, ${side}`, found.median('worker', side), 'µs/event')),
      figure('CPU of Redis, four with the same load each against one', found.ratio('redis', four, one), '×', {
        atMost: 1.15,
      }),
      figure('CPU of the worker, the same', found.ratio('worker', four, one), '×'),
      figure('CPU of Redis, four against one for the same load', found.ratio('redis', four, oneForFour), '×'),
    ],
    notes: ['All Redis share the disk and the cores. An ingest chooses its first shard at random.'],
  };
};

async function start(world: World, { redis, pods }: (typeof shapes)[Side]): Promise<Taken> {
  const servers = await Promise.all(Array.from({ length: redis }, () => RedisServer.start()));
  const clients = servers.map(({ url }) => new Redis(url));
  const infos = await Promise.all(clients.map((client) => client.info('server')));
  const pids = infos.map((info) => Number(/^process_id:(\d+)/m.exec(info)?.[1]));
  const settings = { REDIS_URL: servers.map(({ url }) => url).join(' ') };
  const fronts: Front[] = [];
  for (let pod = 0; pod < pods; pod += 1) fronts.push(await startIngest(world, settings));
  const opsPort = await freePort();
  const environment = { ...settings, OPS_PORT: String(opsPort), DATABASE_URL: await world.createDatabase() };
  const worker = world.program('cmd/worker/main.ts', environment);
  await worker.answers(`http://127.0.0.1:${opsPort}/readyz`);
  return { servers, clients, pids, fronts, worker };
}

async function measure(
  { clients, pids, fronts, worker }: Taken,
  seconds: number,
): Promise<Record<'rate' | 'redis' | 'worker', number>> {
  const used = async (): Promise<number> => {
    const times = await Promise.all(pids.map((pid) => cpuTime(pid)));
    return times.reduce((sum, time) => sum + time, 0);
  };
  const before = [await used(), await worker.cpu()] as const;
  const answers = await Promise.all(fronts.map(({ port }) => load({ port, seconds, ...loadOfPod })));
  await until('everything is stored', async () => (await jobsIn(clients)) === 0, 600_000);
  const after = [await used(), await worker.cpu()] as const;
  const refused = answers.reduce((sum, each) => sum + each.refused + each.broken, 0);
  if (refused > 0) throw new Error(`${refused} requests without a 201`);
  const accepted = answers.reduce((sum, each) => sum + each.accepted, 0);
  const perEvent = (ms: number): number => (ms * 1_000) / accepted;
  const rate = answers.reduce((sum, each) => sum + rateOf(each), 0);
  return { rate, redis: perEvent(after[0] - before[0]), worker: perEvent(after[1] - before[1]) };
}

async function jobsIn(clients: readonly Redis[]): Promise<number> {
  const key = (part: string): string => queueKey('events', part);
  const counts = clients.flatMap((client) => [
    client.llen(key('wait')),
    client.llen(key('active')),
    client.zcard(key('delayed')),
  ]);
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}
