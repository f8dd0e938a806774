import { RedisScript } from '../redis-script.ts';

/**
 * The state of a key is an entry of a small hash, which Redis stores in one piece: a lease of 6
 * bytes, then what the caller sent: the identity of its first event (16 bytes) and a fingerprint (8
 * bytes, and 4 for each later field). The lease of an acknowledged commit never ends.
 *
 * Keys come in two generations, each of which expires as a whole. A generation has as many hashes
 * as the one before needed. `KEYS[1]` is the record of both; the names of all hashes begin with it.
 *
 * Each item begins with the letter of an operation, and `1` if its key is derived from the events:
 * `r`eserve, `m`ark as acknowledged, `w`rite without a mark, re`l`ease, and `u`ndo a reservation
 * that is `n`ew. The reply holds a letter for each item (`n`ew, `a`gain, `c`ommitted, `b`usy,
 * `o`ther body or `f`ull), and the identities of those that are `a` or `c`.
 */
export const keyScript = new RedisScript(`
local call, floor, sub = redis.call, math.floor, string.sub
local kept, lease, isFull, size, items = tonumber(ARGV[1]), ARGV[2], ARGV[3] == '1', tonumber(ARGV[4]), ARGV[5]
local clock = call('TIME')
local now = clock[1] * 1000 + floor(clock[2] / 1000)
local never, leased, free = string.rep('\\255', 6), struct.pack('>I6', now + lease), struct.pack('>I6', 0)
local known = call('HMGET', KEYS[1], 'number', 'began', 'count', 'bits', 'bitsBefore')
for i = 1, 5 do known[i] = tonumber(known[i] or '0') end
local number, began, count, bits, bitsBefore = unpack(known)
if number == 0 or now - began >= kept then
  bitsBefore = now - began < 2 * kept and bits or 0
  bits = count < 2 ^ 19 and 13 or math.min(22, math.ceil(math.log(count / 64) / math.log(2)))
  number = number + 1
  call('HSET', KEYS[1], 'number', number, 'began', now, 'count', 0, 'bits', bits, 'bitsBefore', bitsBefore)
end
local current, before = KEYS[1] .. ':' .. number .. ':', KEYS[1] .. ':' .. number - 1 .. ':'
local added = 0
local function isNew(key)
  added = added + 1
  if call('HLEN', key) == 1 then call('PEXPIRE', key, 2 * kept) end
end
local function put(key, name, value)
  if call('HSET', key, name, value) == 1 then isNew(key) end
end
local function find(key, name, place)
  return call('HGET', key, name) or (bitsBefore > 0 and call('HGET', before .. floor(place / 2 ^ (24 - bitsBefore)), name))
end
local function reserve(key, name, place, body, derived)
  if bitsBefore == 0 and not isFull and call('HSETNX', key, name, leased .. body) == 1 then
    isNew(key)
    return 'n'
  end
  local value = find(key, name, place)
  if not value then
    if isFull then return 'f' end
    put(key, name, leased .. body)
    return 'n'
  end
  local id, committed, length = sub(value, 7, 22), sub(value, 1, 6) == never, math.min(#value - 6, #body)
  local isOther = sub(value, 23, length + 6) ~= sub(body, 17, length)
  if isOther and (committed or derived == '0') then return 'o' end
  if committed then return 'c', id end
  if struct.unpack('>I6', value) > now then return 'b' end
  put(key, name, leased .. (isOther and id .. sub(body, 17) or sub(value, 7)))
  return 'a', id
end
local function giveUp(key, name, place, body, isUndone)
  local value = find(key, name, place) or free .. body
  if sub(value, 1, 6) == never or sub(value, 7, 22) ~= sub(body, 1, 16) then return end
  if isUndone then call('HDEL', key, name) else put(key, name, free .. sub(value, 7)) end
end
local form, states, ids = 'c1c1c16c' .. size - 18, {}, {}
for at = 1, #items, size do
  local operation, derived, name, body = struct.unpack(form, items, at)
  local one, two, three = string.byte(name, 1, 3)
  local place, state, id = one * 65536 + two * 256 + three, 'n'
  local key = current .. floor(place / 2 ^ (24 - bits))
  if operation == 'r' then state, id = reserve(key, name, place, body, derived)
  elseif operation == 'm' then put(key, name, never .. body)
  elseif operation == 'w' then put(key, name, leased .. body)
  else giveUp(key, name, place, body, operation == 'u') end
  states[#states + 1], ids[#ids + 1] = state, id
end
if added > 0 then call('HINCRBY', KEYS[1], 'count', added) end
return {table.concat(states), table.concat(ids)}
`);
