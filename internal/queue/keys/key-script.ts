import { RedisScript } from '../redis-script.ts';

/**
 * What is known of a key: an entry of a small hash, which Redis stores in one piece. A lease of 6
 * bytes, then what the caller gave: the identity of its first event (16 bytes) and a fingerprint (8
 * bytes, and 4 for each later field). The lease of a commit that was acknowledged never ends.
 *
 * Keys come in two generations, which expire whole. The hashes of a generation are as many as the
 * generation before needed. `KEYS[1]` is the record of both; the names of all hashes begin with it.
 *
 * Each item begins with the letter of an operation, and `1` if its key is derived from the events:
 * `r`eserve, `m`ark as acknowledged, `w`rite without a mark, re`l`ease, and `u`ndo a reservation
 * that is `n`ew. Replies: `n`ew, `a`gain, `c`ommitted, `b`usy, `o`ther body or `f`ull, and the
 * identity.
 */
export const keyScript = new RedisScript(`
local kept, lease, full, size = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3] == '1', tonumber(ARGV[4])
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local never = string.rep('\\255', 6)
local known = redis.call('HMGET', KEYS[1], 'number', 'began', 'count', 'bits', 'bitsBefore')
for i = 1, 5 do known[i] = tonumber(known[i] or '0') end
local number, began, count, bits, bitsBefore = unpack(known)
if number == 0 or now - began >= kept then
  bitsBefore = now - began < 2 * kept and bits or 0
  bits = count < 2 ^ 19 and 13 or math.min(22, math.ceil(math.log(count / 64) / math.log(2)))
  number, began, count = number + 1, now, 0
  redis.call('HSET', KEYS[1], 'number', number, 'began', now, 'count', 0, 'bits', bits, 'bitsBefore', bitsBefore)
end
local replies, added = {}, 0
for at = 0, #ARGV[5] - size, size do
  local item = string.sub(ARGV[5], at + 1, at + size)
  local operation, derived = string.sub(item, 1, 1), string.sub(item, 2, 2) == '1'
  local name, body = string.sub(item, 3, 18), string.sub(item, 19)
  local place = struct.unpack('>I4', name)
  local key = KEYS[1] .. ':' .. number .. ':' .. math.floor(place / 2 ^ (32 - bits))
  local function put(lease, body)
    if redis.call('HSET', key, name, lease .. body) == 0 then return end
    added = added + 1
    if redis.call('HLEN', key) == 1 then redis.call('PEXPIRE', key, 2 * kept) end
  end
  if operation == 'm' then
    put(never, body)
    replies[#replies + 1] = 'c' .. string.sub(body, 1, 16)
  elseif operation == 'w' then
    put(struct.pack('>I6', now + lease), body)
    replies[#replies + 1] = 'a' .. string.sub(body, 1, 16)
  else
    local value = redis.call('HGET', key, name)
    if not value and bitsBefore > 0 then
      value = redis.call('HGET', KEYS[1] .. ':' .. number - 1 .. ':' .. math.floor(place / 2 ^ (32 - bitsBefore)), name)
    end
    local state, stored = 'n', value and string.sub(value, 7) or body
    local committed = value and string.sub(value, 1, 6) == never
    if operation == 'r' then
      local compared = math.min(#stored, #body)
      local other = string.sub(stored, 17, compared) ~= string.sub(body, 17, compared)
      if not value then state = full and 'f' or 'n'
      elseif other and (committed or not derived) then state = 'o'
      elseif committed then state = 'c'
      elseif struct.unpack('>I6', value) > now then state = 'b'
      else state = 'a' end
      if other then stored = string.sub(stored, 1, 16) .. string.sub(body, 17) end
      if state == 'n' or state == 'a' then put(struct.pack('>I6', now + lease), stored) end
    elseif not committed and string.sub(stored, 1, 16) == string.sub(body, 1, 16) then
      if operation == 'l' then put(struct.pack('>I6', 0), stored)
      elseif value then redis.call('HDEL', key, name) end
    end
    replies[#replies + 1] = state .. string.sub(stored, 1, 16)
  end
end
if added > 0 then redis.call('HINCRBY', KEYS[1], 'count', added) end
return table.concat(replies)
`);
