import { RedisScript } from '../redis-script.ts';

/** Keys of a hash, about. Redis frees one that large in the background (UNLINK). */
const keysOfHash = 16_000_000;

/** Length of a key's name: jemalloc has no size between 16 bytes, which it fills, and 32. */
export const nameBytes = 14;

/** Operation, derivation, and the events of an item in a job: their place and number. */
const headBytes = 1 + 1 + 2 + 2;

/**
 * The state of a key is an entry of a hash: what the caller sent, which is the identity of its
 * first event (16 bytes) and a fingerprint (8 bytes, and 4 for each later field); then 6 bytes of a
 * lease, until the key is recorded.
 *
 * Keys come in two generations, each of which ends as a whole. A generation has as many hashes as
 * the one before needed, so that few calls read and write all keys of a commit. `KEYS[1]` is the
 * record of both; the names of all hashes begin with it.
 *
 * `ARGV[3]` is `full` where no new key is taken, and `apart` where all items commit different keys:
 * if none of them is known, they are written as they came.
 *
 * `ARGV[5]` has the name and the entry of each item, which one call takes apart: it is quicker than
 * a call for each. `ARGV[4]` has their heads: the letter of an operation, and `1` if the key is
 * derived from the events: `c`ommit, `r`eserve, `m`ark as acknowledged, `w`rite without a mark,
 * re`l`ease, and `u`ndo a reservation that is `n`ew. The reply has 19 bytes for each item whose key
 * is not new: its number, a letter (`a`gain, `c`ommitted, `b`usy, `o`ther body or `f`ull), and the
 * identity of the key.
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
local kept, lease, mode, heads = tonumber(ARGV[1]), ARGV[2], ARGV[3], ARGV[4]
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
local function inHashes(generation, hashes, list, step, work)
  if hashes == 1 then return work(hash(generation, 0), list) end
  local groups = {}
  for i = 1, #list, step do
    local place = (byte(list[i], 1) * 256 + byte(list[i], 2)) % hashes
    groups[place] = groups[place] or {}
    for part = i, i + step - 1 do table.insert(groups[place], list[part]) end
  end
  for place, group in pairs(groups) do work(hash(generation, place), group) end
end
local count, found, names, items = #heads / ${headBytes}, {}, {}, {}
if count > 0 then
  local format = 'c${nameBytes}c' .. #ARGV[5] / count - ${nameBytes}
  items = {struct.unpack(string.rep(format, count), ARGV[5])}
  items[2 * count + 1] = nil
end
for i = 1, count do names[i] = items[2 * i - 1] end
local function read(key, names)
  local values = call('HMGET', key, unpack(names))
  for i = 1, #names do if values[i] then found[names[i]] = values[i] end end
end
if #names > 0 then
  if hashesBefore > 0 then inHashes(number - 1, hashesBefore, names, 1, read) end
  inHashes(number, hashes, names, 1, read)
end
local changed, words, undone = {}, 0, {}
local function put(name, value)
  changed[words + 1], changed[words + 2], words, found[name] = name, value, words + 2, value
end
local function partsOf(value)
  if #value % 4 == 0 then return value end
  return sub(value, 1, -7), struct.unpack('>I6', value, #value - 5)
end
local function repeated(name, body, isDerived)
  local old, lease = partsOf(found[name])
  local id, length = sub(old, 1, 16), math.min(#old, #body)
  local isOther = sub(old, 17, length) ~= sub(body, 17, length)
  if isOther and not (lease and isDerived) then return 'o', id end
  if not lease then return 'c', id end
  if lease > now then return 'b', id end
  put(name, (isOther and id .. sub(body, 17) or old) .. leased)
  return 'a', id
end
local function giveUp(name, body, isUndone)
  local old, lease = partsOf(found[name] or body .. free)
  if not lease or sub(old, 1, 16) ~= sub(body, 1, 16) then return end
  if isUndone then undone[#undone + 1], found[name] = name, nil else put(name, old .. free) end
end
local replies, without, events = {}, {}, tonumber(ARGV[6])
if mode == 'apart' and next(found) == nil then
  changed, words, names = items, 2 * count, {}
end
for i, name in ipairs(names) do
  local at, state, id = (i - 1) * ${headBytes} + 1
  local operation, body = sub(heads, at, at), items[2 * i]
  if operation == 'c' or operation == 'r' then
    if found[name] then state, id = repeated(name, body, sub(heads, at + 1, at + 1) == '1')
    elseif mode == 'full' then state, id = 'f', sub(body, 1, 16)
    elseif operation == 'c' then put(name, body)
    else put(name, body .. leased) end
    if state then replies[#replies + 1] = struct.pack('>I2', i - 1) .. state .. id end
    if state and operation == 'c' then
      local from, more = struct.unpack('>I2I2', heads, at + 2)
      for event = from, from + more - 1 do without[#without + 1] = event end
    end
  elseif operation == 'm' then put(name, body)
  elseif operation == 'w' then put(name, body .. leased)
  else giveUp(name, body, operation == 'u') end
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
local function write(key, pairs) call('HSET', key, unpack(pairs)) end
if words > 0 then inHashes(number, hashes, changed, 2, write) end
local lost = {}
for _, name in ipairs(undone) do if not found[name] then lost[#lost + 1] = name end end
if #lost > 0 then inHashes(number, hashes, lost, 1, function(key, names) call('HDEL', key, unpack(names)) end) end
return table.concat(replies)
`);
}
