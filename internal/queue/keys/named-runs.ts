import { hashedName, queueKey } from './keys.ts';
import type { RedisClient } from '../redis.ts';

/** How long after the end of a run a ping with its `rid` counts as a repeat, in ms. */
const repeatMs = 60 * 60 * 1_000;

/** Age of a run without an end from which a `start` with its `rid` begins a new one, in ms. */
const abandonedMs = 12 * 60 * 60 * 1_000;

/** How long the names of an automation are known after their last use, in ms. */
const keptMs = 400 * 24 * 60 * 60 * 1_000;

/** Most names of an automation that are known: a listpack of Redis holds as many in a few KB. */
const mostNames = 128;

/**
 * Values are a letter (`s`tarted, `e`nded), the time of it, and the run if that is not the name.
 * Forgets the older half of too many names.
 */
const functions = `
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local value = redis.call('HGET', KEYS[1], ARGV[1])
local state, at, run = string.match(value or '', '^(%a)(%d+) (.*)$')
local function note(letter, of)
  redis.call('HSET', KEYS[1], ARGV[1], letter .. string.format('%.0f', now) .. ' ' .. of)
  redis.call('PEXPIRE', KEYS[1], ${keptMs})
  if redis.call('HLEN', KEYS[1]) <= ${mostNames} then return end
  local all, names = redis.call('HGETALL', KEYS[1]), {}
  for i = 1, #all, 2 do names[#names + 1] = {string.match(all[i + 1], '%d+'), all[i]} end
  table.sort(names, function(a, b) return tonumber(a[1]) < tonumber(b[1]) end)
  for i = 1, ${mostNames / 2} do redis.call('HDEL', KEYS[1], names[i][2]) end
end
`;

const runScript = `${functions}
local kind, fresh = ARGV[2], ARGV[3]
local age = now - tonumber(at or now)
local isOver = (state == 'e' and kind ~= 'log' and age > ${repeatMs})
  or (state == 's' and kind == 'start' and age > ${abandonedMs})
if isOver then run = fresh end
if isOver or (kind == 'start' and not state) then note('s', run or '') end
return run or ''
`;

const endScript = `${functions}
if state ~= 'e' then note('e', run or '') end
return 1
`;

/**
 * The runs of pings with a `rid`. The execution is the `rid` itself, unless an earlier run of the
 * automation had it. In Redis, so that all ingest pods know it; rejects if Redis is not available.
 */
export class NamedRuns {
  readonly #redis: RedisClient;
  readonly #queueName: string;

  constructor(redis: RedisClient, queueName: string) {
    this.#redis = redis;
    this.#queueName = queueName;
  }

  /**
   * Resolves with the execution that a ping belongs to: `fresh`, if the last run with the name is
   * over and the ping comes too late to be a repeat.
   */
  async runOf(
    organization: string,
    automation: string,
    name: string,
    { kind, fresh }: { kind: 'start' | 'log' | 'end'; fresh: string },
  ): Promise<string> {
    const key = this.#key(organization, automation);
    const run = await this.#redis.eval(runScript, 1, key, hashedName(name), kind, fresh);
    return String(run) || name;
  }

  /** Notes that the END of the last run with the name is on disk. */
  async end(organization: string, automation: string, name: string): Promise<void> {
    await this.#redis.eval(endScript, 1, this.#key(organization, automation), hashedName(name));
  }

  #key(organization: string, automation: string): string {
    return `${queueKey(this.#queueName, 'named-runs')}:${hashedName(organization, automation.toLowerCase())}`;
  }
}
