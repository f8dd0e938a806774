/** A queue of at most this many jobs is read in full. */
const whole = 2_000;

/** Most job numbers of a longer queue that one read skips because the jobs are done. */
const passed = 5_000;

/**
 * How many jobs to compare by time, from the first one on. Pods add jobs with the times of their
 * own clocks, so a later number may have an earlier time.
 */
const compared = 1_000;

/**
 * Defines `oldestOf(prefix)` for scripts: when the oldest job of a queue was added, whether
 * waiting, active or delayed; false without any. A job may be anywhere in these lists: it returns
 * after an attempt, and is delayed while no worker can read it. BullMQ numbers jobs in order, so
 * the key `oldest` keeps the number below which all are done, and when that job was added. If a
 * read does not reach the first job of a long queue, it returns a time before that job, and the
 * next read continues there. A read takes about 5 ms at most.
 */
export const oldestOf = `
local function oldestOf(prefix)
  local last = tonumber(redis.call('GET', prefix .. 'id') or '') or 0
  local first, oldest = last + 1, false
  local function look(id)
    local time = tonumber(redis.call('HGET', prefix .. id, 'timestamp') or nil)
    if time and (not oldest or time < oldest) then oldest = time end
    return time
  end
  local function keep()
    -- A full or read-only Redis refuses this: the next read then starts where this one did.
    redis.pcall('HSET', prefix .. 'oldest', 'id', string.format('%.0f', first), 'at', oldest or '')
  end
  local active, wait, delayed = prefix .. 'active', prefix .. 'wait', prefix .. 'delayed'
  if redis.call('LLEN', active) + redis.call('LLEN', wait) + redis.call('ZCARD', delayed) <= ${whole} then
    for _, ids in ipairs({
      redis.call('LRANGE', active, 0, -1), redis.call('LRANGE', wait, 0, -1), redis.call('ZRANGE', delayed, 0, -1)
    }) do
      for _, id in ipairs(ids) do
        look(id)
        first = math.min(first, tonumber(id) or first)
      end
    end
    keep()
    return oldest
  end
  local known = redis.call('HMGET', prefix .. 'oldest', 'id', 'at')
  first = tonumber(known[1] or '1')
  if first > last + 1 then first = 1 end
  local function isDone(id)
    return redis.call('EXISTS', prefix .. id) == 0 or redis.call('ZSCORE', prefix .. 'failed', id)
  end
  local stop = first + ${passed}
  while first < stop and first <= last and isDone(first) do first = first + 1 end
  if first == stop then oldest = tonumber(known[2] or '') or 0
  else
    for id = first, math.min(last, first + ${compared}) do
      if not isDone(id) then look(id) end
    end
  end
  keep()
  return oldest
end
`;
