import type { LaneStats, QueueStats } from './queue-metrics.ts';
import { overflowQueue, queueKey } from './keys/keys.ts';
import { oldestOf } from './clocks/oldest-job.ts';
import type { RedisClient } from './redis.ts';
import type { ShardQueue } from './shards/shard-registry.ts';

/** Most jobs that the script reads; their mean stands for the rest. */
const sampleSize = 1_000;

/** The name of a job is its number of events, so that stats need not read job data. */
export function jobName(events: number): string {
  return `${events} events`;
}

/** One script, so that no job is missed or counted twice while it moves between lists. */
const script = `
local prefix = KEYS[1]
local sample = tonumber(ARGV[1])
local jobs, seen, events = 0, 0, 0
${oldestOf}
local function look(id)
  local size = tonumber(string.match(redis.call('HGET', prefix .. id, 'name') or '', '^%d+'))
  if size then events = events + size; seen = seen + 1 end
end
local function count(total, ids)
  jobs = jobs + total
  for index = #ids, 1, -1 do look(ids[index]) end
  sample = sample - #ids
end
for _, list in ipairs({'active', 'wait'}) do
  local key = prefix .. list
  count(redis.call('LLEN', key), redis.call('LRANGE', key, -math.max(sample, 1), -1))
end
count(redis.call('ZCARD', prefix .. 'delayed'), redis.call('ZRANGE', prefix .. 'delayed', 0, math.max(sample, 1) - 1))
local oldest, time = oldestOf(prefix), redis.call('TIME')
local age = oldest and oldest > 0 and time[1] * 1000 + math.floor(time[2] / 1000) - oldest or 0
return {jobs, seen, events, string.format('%.0f', age)}
`;

/**
 * The stats of the queue and of its overflow lane, over the shards that answer. Rejects if none
 * does.
 */
export async function readLaneStats(shards: readonly ShardQueue[]): Promise<LaneStats> {
  const read = async ({ redis, queueName }: ShardQueue): Promise<LaneStats> => {
    const [main, overflow] = await Promise.all([
      readQueueStats(redis, queueName),
      readQueueStats(redis, overflowQueue(queueName)),
    ]);
    return { main, overflow };
  };
  const settled = await Promise.allSettled(shards.map(read));
  const found = settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  if (found.length === 0) throw new Error('no shard of the queue answers');
  return { main: sum(found.map(({ main }) => main)), overflow: sum(found.map(({ overflow }) => overflow)) };
}

function sum(stats: readonly QueueStats[]): QueueStats {
  return {
    events: stats.reduce((events, each) => events + each.events, 0),
    oldestAge: Math.max(...stats.map(({ oldestAge }) => oldestAge)),
  };
}

/** Counts the events of waiting, active and delayed jobs. Rejects while Redis is unavailable. */
export async function readQueueStats(redis: RedisClient, queueName: string): Promise<QueueStats> {
  const reply = await redis.eval(script, 1, queueKey(queueName, ''), sampleSize);
  const [jobs, seen, events, age] = reply as [number, number, number, string];
  return {
    events: seen === 0 ? jobs : events + Math.round((events / seen) * (jobs - seen)),
    oldestAge: Math.max(0, Number(age)) / 1_000,
  };
}
