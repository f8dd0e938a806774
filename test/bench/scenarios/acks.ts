import { Redis } from 'ioredis';
import { RedisServer } from '../../support/redis-server.ts';
import { replicated, startReplica } from '../../support/replica.ts';
import { cpuTime } from '../harness/cpu.ts';
import { compare, figure, type Figure, type Rounds } from '../harness/figures.ts';
import { startIngest, type Front } from '../harness/sides.ts';
import { load, rateOf } from '../harness/wrk.ts';
import type { Scenario } from './scenario.ts';

const sides = ['no replica', 'a replica, REDIS_ACKS=0', 'a replica, REDIS_ACKS=1'] as const;
type Side = (typeof sides)[number];

/** CPU time per event of ingest and of its Redis, in µs; events a second; p50 of a 201, in ms. */
type Measure = 'cpu' | 'redis' | 'rate' | 'p50';

interface Taken {
  front: Front;
  redis: Redis;
  redisPid: number;
}

/** What a 201 costs that waits for a replica of Redis. No worker runs. */
export const acks: Scenario = async (world, { rounds, seconds }) => {
  const alone = await RedisServer.start(replicated);
  const master = await RedisServer.start(replicated);
  const replica = await startReplica(master);
  const servers: Record<Side, RedisServer> = {
    'no replica': alone,
    'a replica, REDIS_ACKS=0': master,
    'a replica, REDIS_ACKS=1': master,
  };
  const taken = {} as Record<Side, Taken>;
  for (const [side, acksOfSide] of [
    [sides[0], '0'],
    [sides[1], '0'],
    [sides[2], '1'],
  ] as const) {
    const redis = new Redis(servers[side].url);
    const redisPid = Number(/^process_id:(\d+)/m.exec(await redis.info('server'))?.[1]);
    const front = await startIngest(world, { REDIS_URL: servers[side].url, REDIS_ACKS: acksOfSide });
    taken[side] = { front, redis, redisPid };
  }
  const figures: Figure[] = [];
  for (const connections of [1, 64]) {
    for (const { front } of Object.values(taken)) await load({ port: front.port, connections, seconds });
    const found = await compare(sides, rounds, (side) => measure(taken[side], connections, seconds));
    figures.push(...figuresOf(connections === 1 ? 'for a lone caller' : `at ${connections} connections`, found));
  }
  for (const { front, redis } of Object.values(taken)) {
    await world.end(front.program);
    redis.disconnect();
  }
  await Promise.all([replica.server.stop(), master.stop(), alone.stop()]);
  return { figures, notes: ['Master and replica share the disk and the cores; both sync each write.'] };
};

async function measure(
  { front, redis, redisPid }: Taken,
  connections: number,
  seconds: number,
): Promise<Record<Measure, number>> {
  await emptyQueue(redis);
  const before = [await front.program.cpu(), await cpuTime(redisPid)] as const;
  const answers = await load({ port: front.port, connections, seconds });
  const after = [await front.program.cpu(), await cpuTime(redisPid)] as const;
  if (answers.refused + answers.broken > 0) throw new Error(`${answers.refused} refused, ${answers.broken} broken`);
  const perEvent = (ms: number): number => (ms * 1_000) / answers.accepted;
  const cpu = perEvent(after[0] - before[0]);
  return { cpu, redis: perEvent(after[1] - before[1]), rate: rateOf(answers), p50: answers.p50 };
}

/** Takes what waits out of the queue, and leaves what the queue is made of. */
async function emptyQueue(redis: Redis): Promise<void> {
  const keys = (await redis.keys('*')).filter((key) => !key.endsWith(':meta'));
  while (keys.length > 0) await redis.unlink(keys.splice(0, 10_000));
}

function figuresOf(at: string, found: Rounds<Side, Measure>): Figure[] {
  const [, without, acked] = sides;
  return [
    ...sides.map((side) => figure(`CPU of ingest, ${side}, ${at}`, found.median('cpu', side), 'µs/event')),
    ...sides.map((side) => figure(`CPU of Redis, ${side}, ${at}`, found.median('redis', side), 'µs/event')),
    ...sides.map((side) => figure(`p50 of 201, ${side}, ${at}`, found.median('p50', side), 'ms')),
    ...sides.map((side) => figure(`Accepted, ${side}, ${at}`, found.median('rate', side), 'events/s')),
    figure(`CPU of ingest with REDIS_ACKS=1 against 0 ${at}`, found.ratio('cpu', acked, without), '×'),
    figure(`CPU of Redis with REDIS_ACKS=1 against 0 ${at}`, found.ratio('redis', acked, without), '×'),
    figure(`p50 of 201 with REDIS_ACKS=1 against 0 ${at}`, found.ratio('p50', acked, without), '×'),
  ];
}
