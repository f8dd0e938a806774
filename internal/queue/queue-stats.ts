import type { QueueStats } from '../telemetry/queue-metrics.ts';
import { keyPrefix } from './keys.ts';
import type { RedisClient } from './redis.ts';

/** Jobs looked at; where there are more, the mean of these stands for the rest. */
const sampleSize = 1_000;

/**
 * The name of a job says how many events it holds, so that the backlog is counted without reading
 * what jobs carry.
 */
export function jobName(events: number): string {
  return `${events} events`;
}

/**
 * One script, so that no job is counted twice, or not at all, on its way from one list to the next.
 * Each list keeps its oldest job at its end; the oldest of all is among these.
 */
const script = `
local prefix = KEYS[1]
local sample = tonumber(ARGV[1])
local jobs, seen, events = 0, 0, 0
local oldest = false
local function look(id)
  local job = redis.call('HMGET', prefix .. id, 'name', 'timestamp')
  local size = tonumber(string.match(job[1] or '', '^%d+'))
  local timestamp = tonumber(job[2] or nil)
  if size then events = events + size; seen = seen + 1 end
  if timestamp and (not oldest or timestamp < oldest) then oldest = timestamp end
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
return {jobs, seen, events, oldest and string.format('%.0f', oldest) or ''}
`;

/**
 * Counts what the queue holds: jobs waiting, with a worker, or delayed. Rejects while Redis is
 * away.
 */
export async function readQueueStats(redis: RedisClient, queueName: string): Promise<QueueStats> {
  const reply = await redis.eval(script, 1, `${keyPrefix}:${queueName}:`, sampleSize);
  const [jobs, seen, events, oldest] = reply as [number, number, number, string];
  return {
    events: seen === 0 ? jobs : events + Math.round((events / seen) * (jobs - seen)),
    oldestAge: oldest === '' ? 0 : Math.max(0, Date.now() - Number(oldest)) / 1_000,
  };
}
