import { RedisScript } from '../redis-script.ts';

/** Keys of a hash, about. Redis frees one that large in the background (UNLINK). */
const keysOfHash = 16_000_000;

/** Length of a key's name: jemalloc has no size between 16 bytes, which it fills, and 32. */
export const nameBytes = 14;

/**
 * The state of a key is an entry of a hash: what the caller sent, which is the identity of its
 * first event (16 bytes) and a fingerprint (8 bytes, and 4 for each later field); then 6 bytes of a
 * lease, until the key is recorded.
 *
 * Keys come in two generations, each of which ends as a whole. A generation has as many hashes as
 * the one before needed, so that few calls read and write all keys of a commit. `KEYS[1]` is the
 * record of both; the names of all hashes begin with it.
 *
 * Each item begins with the letter of an operation, and `1` if its key is derived from the events:
 * `c`ommit, `r`eserve, `m`ark as acknowledged, `w`rite without a mark, re`l`ease, and `u`ndo a
 * reservation that is `n`ew. The reply holds a letter for each item (`n`ew, `a`gain, `c`ommitted,
 * `b`usy, `o`ther body or `f`ull), and the identities of those that are `a` or `c`.
 *
 * A commit also adds a job of BullMQ, by its own script `addJob`: an error there leaves the keys as
 * they were. Events whose key is not new are left out of the job (`JobData`).
 */
export function keyScript(addJob = ''): RedisScript {
  return new RedisScript(`
local function addJob(KEYS, ARGV)
${addJob}
end
local call, floor, sub, byte = redis.call, math.floor, string.sub, string.byte
local kept, lease, isFull, size, items = tonumber(ARGV[1]), ARGV[2], ARGV[3] == '1', tonumber(ARGV[4]), ARGV[5]
local clock = call('TIME')
local now = clock[1] * 1000 + floor(clock[2] / 1000)
local leased, free = struct.pack('>I6', now + lease), struct.pack('>I6', 0)
local record = call('HMGET', KEYS[1], 'number', 'began', 'hashes', 'hashesBefore')
for i = 1, 4 do record[i] = tonumber(record[i] or '0') end
local number, began, hashes, hashesBefore = unpack(record)
local function hash(generation, place) return KEYS[1] .. ':' .. generation .. ':' .. place end
local function drop(generation, hashes)
  for place = 0, hashes - 1 do call('UNLINK', hash(generation, place)) end
end
if number == 0 or now - began >= kept then
  drop(number - 1, hashesBefore)
  if now - began >= 2 * kept then
    drop(number, hashes)
    hashes = 0
  end
  local count = 0
  for place = 0, hashes - 1 do count = count + call('HLEN', hash(number, place)) end
  hashesBefore, hashes, number = hashes, math.max(1, math.ceil(count / ${keysOfHash})), number + 1
  call('HSET', KEYS[1], 'number', number, 'began', now, 'hashes', hashes, 'hashesBefore', hashesBefore)
end
local function inHashes(generation, hashes, names, work)
  if hashes == 1 then return work(hash(generation, 0), names) end
  local groups = {}
  for _, name in ipairs(names) do
    local place = (byte(name, 1) * 256 + byte(name, 2)) % hashes
    groups[place] = groups[place] or {}
    table.insert(groups[place], name)
  end
  for place, group in pairs(groups) do work(hash(generation, place), group) end
end
local found, names, missing = {}, {}, {}
for at = 1, #items, size do names[#names + 1] = sub(items, at + 6, at + ${5 + nameBytes}) end
local function read(key, names)
  local values = call('HMGET', key, unpack(names))
  for i = 1, #names do
    if values[i] then found[names[i]] = values[i] else missing[#missing + 1] = names[i] end
  end
end
if #names > 0 then inHashes(number, hashes, names, read) end
if #missing > 0 and hashesBefore > 0 then inHashes(number - 1, hashesBefore, missing, read) end
local changed, gone = {}, ''
local function put(name, value)
  changed[#changed + 1], found[name] = name, value
end
local function partsOf(value)
  if #value % 4 == 0 then return value end
  return sub(value, 1, -7), struct.unpack('>I6', value, #value - 5)
end
local function reserve(name, body, derived, first)
  local value = found[name] or gone
  if value == gone then
    if isFull then return 'f' end
    put(name, first)
    return 'n'
  end
  local old, lease = partsOf(value)
  local id, length = sub(old, 1, 16), math.min(#old, #body)
  local isOther = sub(old, 17, length) ~= sub(body, 17, length)
  if isOther and (not lease or derived == '0') then return 'o' end
  if not lease then return 'c', id end
  if lease > now then return 'b' end
  put(name, (isOther and id .. sub(body, 17) or old) .. leased)
  return 'a', id
end
local function giveUp(name, body, isUndone)
  local old, lease = partsOf(found[name] or body .. free)
  if lease and sub(old, 1, 16) == sub(body, 1, 16) then put(name, isUndone and gone or old .. free) end
end
local states, ids, without, events = {}, {}, {}, tonumber(ARGV[6])
for i, name in ipairs(names) do
  local at, state, id = (i - 1) * size, 'n'
  local operation, derived, body = sub(items, at + 1, at + 1), sub(items, at + 2, at + 2), sub(items, at + ${7 + nameBytes}, at + size)
  if operation == 'c' then
    state, id = reserve(name, body, derived, body)
    if state ~= 'n' then
      local from, more = struct.unpack('>I2I2', items, at + 3)
      for event = from, from + more - 1 do without[#without + 1] = event end
    end
  elseif operation == 'r' then state, id = reserve(name, body, derived, body .. leased)
  elseif operation == 'm' then put(name, body)
  elseif operation == 'w' then put(name, body .. leased)
  else giveUp(name, body, operation == 'u') end
  states[i], ids[#ids + 1] = state, id
end
if events and #without < events then
  local data = ARGV[8]
  if #without > 0 then
    local list = table.concat(without, ',')
    data = sub(data, 1, -2) .. ',"without":[' .. list .. '],"withoutSum":"' .. redis.sha1hex(list) .. '"}'
  end
  local id = addJob({unpack(KEYS, 2)}, {ARGV[7], data, ARGV[9]})
  if tonumber(id) < 0 then return redis.error_reply('BullMQ refused the job: ' .. id) end
end
local function write(key, names)
  local values, n = {}, 0
  for i = 1, #names do
    local name = names[i]
    if found[name] == gone then call('HDEL', key, name)
    else values[n + 1], values[n + 2], n = name, found[name], n + 2 end
  end
  if n > 0 then call('HSET', key, unpack(values)) end
end
if #changed > 0 then inHashes(number, hashes, changed, write) end
return {table.concat(states), table.concat(ids)}
`);
}
