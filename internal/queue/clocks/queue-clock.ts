import { within } from '../../kit/async/within.ts';
import { overflowQueue, queueKey } from '../keys/keys.ts';
import { oldestOf } from './oldest-job.ts';
import { commandTimeout, type RedisClient } from '../redis.ts';

/**
 * An organization counts as in the overflow lane from its last note on, and this long before it, in
 * ms. Ingest writes at most one note a second, before the jobs that it is about.
 */
const noteMs = 60_000;

/** What Redis knows about the time up to which all events have left it, in ms since the epoch. */
export interface QueueClock {
  /** The current time of Redis. */
  now: number;
  /** When the oldest job was added, or a time before that; undefined without jobs. */
  oldestAt: number | undefined;
  /** When ingest last reported that it takes events; undefined if never. */
  admittingAt: number | undefined;
  /** Times in which ingest may have rejected events or had a wrong clock, oldest first. */
  gaps: { from: number; until: number }[];
  /** Times without a note of any pod in this shard, oldest first; only with several shards. */
  silences: { from: number; until: number }[];
  /**
   * When the oldest job of the overflow lane was added, and the organizations with events there;
   * undefined while the lane is empty.
   */
  overflow: { oldestAt: number; organizations: string[] } | undefined;
}

/** One script, so that no job is missed while it moves between lists. */
const script = `
local prefix = KEYS[1]
${oldestOf}
local function text(time) return time and string.format('%.0f', time) or '' end
local overflow = oldestOf(KEYS[2])
local organizations = {}
if overflow then
  local from = text(overflow - tonumber(ARGV[1]))
  organizations = redis.call('ZRANGEBYSCORE', prefix .. 'overflowing', from, '+inf')
end
local time = redis.call('TIME')
return {
  tostring(time[1] * 1000 + math.floor(time[2] / 1000)),
  text(oldestOf(prefix)),
  redis.call('GET', prefix .. 'admitting') or '',
  redis.call('LRANGE', prefix .. 'gaps', 0, -1),
  text(overflow),
  organizations,
  redis.call('LRANGE', prefix .. 'silences', 0, -1)
}
`;

/** Rejects while Redis is unavailable. */
export async function readQueueClock(redis: RedisClient, queueName: string): Promise<QueueClock> {
  const keys = [queueName, overflowQueue(queueName)].map((name) => queueKey(name, ''));
  const reply = await within(commandTimeout, redis.eval(script, keys.length, ...keys, noteMs));
  const [now, oldest, admitting, gaps, overflow, organizations, silences] = reply as [
    string,
    string,
    string,
    string[],
    string,
    string[],
    string[],
  ];
  return {
    now: Number(now),
    oldestAt: oldest === '' ? undefined : Number(oldest),
    admittingAt: admitting === '' ? undefined : Number(admitting),
    gaps: gaps.map(intervalOf),
    silences: silences.map(intervalOf),
    overflow: overflow === '' ? undefined : { oldestAt: Number(overflow), organizations },
  };
}

function intervalOf(text: string): { from: number; until: number } {
  const [from = 0, until = 0] = text.split('-').map(Number);
  return { from, until };
}
