import { Batches } from '../../kit/async/batches.ts';
import { RequestError, Unavailable } from '../../kit/errors/request-error.ts';
import { RedisScript } from '../redis-script.ts';
import { hashedName, queueKey } from './keys.ts';
import type { RedisClient } from '../redis.ts';

/** How long a run without an end stays open, in ms. */
const openMs = 30 * 24 * 60 * 60 * 1_000;

/**
 * How long a ping has a run to itself, in ms: longer than the lease of its idempotency key. If the
 * pod has died, another ping takes the run after that.
 */
const leaseMs = 3_000;

/** How long the events of a failed end keep their identities, in ms. */
const endingMs = 60 * 60 * 1_000;

/** How long after the end of a run a ping with its `rid` counts as a repeat, in ms. */
const repeatMs = 60 * 60 * 1_000;

/** Age of a run without an end at which a `start` with its `rid` begins a new one, in ms. */
const abandonedMs = 12 * 60 * 60 * 1_000;

/** How long the names of an automation are remembered after their last use, in ms. */
const namesMs = 400 * 24 * 60 * 60 * 1_000;

/** Most names remembered for an automation; a Redis listpack holds that many in a few KB. */
const mostNames = 128;

/**
 * Most automations of an organization with an open run, and most with names. They stay in Redis for
 * long, and must not take the room of other organizations.
 */
const mostAutomations = 10_000;

/** Characters that tell an organization's automations apart. */
const shortName = 16;

/**
 * Each item is an operation on the hash of an automation, with two arguments. A new hash needs
 * room: in Redis, unless `ARGV[2]` says that it is full, and in the organization's set of
 * automations. An open run is confirmed once its START is on disk; `opening` and `ending` are when
 * a ping's turn with it ends. `text` is that of its START; `end` is the identity of its end, with
 * its text. A named run is a letter (`s`tarted, `e`nded), its time, and the run if that differs
 * from the name. Past the limit of names, the older half is forgotten. All items are one argument,
 * and so are their replies: Redis and its client take longer for an argument than for the whole
 * operation.
 */
const script = new RedisScript(`
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local key, set, member
local refused
local function hasRoom(ms)
  if redis.call('EXISTS', key) == 1 then return true end
  if ARGV[2] == 'full' then refused = '!full' return false end
  if redis.call('ZCARD', set) >= ${mostAutomations} then
    redis.call('ZREMRANGEBYSCORE', set, '-inf', now)
    if redis.call('ZCARD', set) >= ${mostAutomations} then refused = '!many' return false end
  end
  redis.call('ZADD', set, now + ms, member)
  redis.call('PEXPIRE', set, ms)
  return true
end
local function read()
  local fields = redis.call('HMGET', key, 'run', 'confirmed', 'opening', 'ending', 'text', 'end')
  local run, confirmed, opening, ending, text, last = unpack(fields)
  opening, ending = tonumber(opening or 0), tonumber(ending or 0)
  return run, confirmed == '1' or opening > now, ending > now, text, now - ending < ${endingMs} and last or ''
end
local function change(run, ...)
  if redis.call('HGET', key, 'run') == run then redis.call('HSET', key, ...) end
end
local function note(name, letter, run)
  if not hasRoom(${namesMs}) then return end
  redis.call('HSET', key, name, letter .. string.format('%.0f', now) .. ' ' .. run)
  redis.call('PEXPIRE', key, ${namesMs})
  if redis.call('HLEN', key) <= ${mostNames} then return end
  local all, names = redis.call('HGETALL', key), {}
  for i = 1, #all, 2 do names[#names + 1] = {string.match(all[i + 1], '%d+'), all[i]} end
  table.sort(names, function(a, b) return tonumber(a[1]) < tonumber(b[1]) end)
  for i = 1, ${mostNames / 2} do redis.call('HDEL', key, names[i][2]) end
end
local function named(name)
  return string.match(redis.call('HGET', key, name) or '', '^(%a)(%d+) (.*)$')
end
local function join(kind, name, fresh)
  local state, at, run = named(name)
  local age = now - tonumber(at or now)
  local isOver = (state == 'e' and kind ~= 'log' and age > ${repeatMs})
    or (state == 's' and kind == 'start' and age > ${abandonedMs})
  if isOver then run = fresh end
  if isOver or (kind == 'start' and not state) then note(name, 's', run or '') end
  return run or ''
end
local operations = {
  open = function(fresh, text)
    if not hasRoom(${openMs}) then return end
    local run, started, ending, of = read()
    if not run or started or ending then run, of = fresh, text end
    redis.call('HSET', key, 'run', run, 'text', of, 'confirmed', '0', 'opening', now + ${leaseMs}, 'ending', '0')
    redis.call('PEXPIRE', key, ${openMs})
    return run .. (of == text and ' 1' or ' 0')
  end,
  find = function()
    local run, started = read()
    return run and run .. (started and ' 1' or ' 0')
  end,
  take = function(fresh, text)
    local run, started, ending, _, last = read()
    if not run or ending then return end
    local id, of = string.match(last, '^(%S+) (.*)$')
    if of ~= text then id = fresh end
    redis.call('HSET', key, 'ending', now + ${leaseMs}, 'end', id .. ' ' .. text)
    return run .. (started and ' 1 ' or ' 0 ') .. id
  end,
  confirm = function(run) change(run, 'confirmed', '1', 'opening', '0') end,
  release = function(run) change(run, 'opening', now, 'ending', now) end,
  close = function(run)
    if redis.call('HGET', key, 'run') ~= run then return end
    redis.call('DEL', key)
    redis.call('ZREM', set, member)
  end,
  start = function(...) return join('start', ...) end,
  log = function(...) return join('log', ...) end,
  finish = function(...) return join('end', ...) end,
  ended = function(name)
    local state, _, run = named(name)
    if state ~= 'e' then note(name, 'e', run or '') end
  end,
}
local replies = {}
for part, operation, organization, name, one, two in string.gmatch(ARGV[1], '(%d)(%a+) (%S+) (%S+) (%S*) (%S*);') do
  key, set = KEYS[tonumber(part)] .. ':' .. name, KEYS[tonumber(part) + 2] .. ':' .. organization
  member, refused = string.sub(name, 1, ${shortName}), nil
  local reply = operations[operation](one, two)
  replies[#replies + 1] = refused or reply or ''
end
return table.concat(replies, ';')
`);

/**
 * The parts of the queue that hold runs, and then the sets of their automations, by their places in
 * the script's `KEYS`.
 */
const parts = ['open-run', 'named-runs', 'automations-with-run', 'automations-with-names'] as const;

/** A run that a ping started and none has ended. */
export interface OpenRun {
  readonly run: string;
  /** True if its START is on disk, or about to be. */
  readonly started: boolean;
}

/**
 * The runs of pings: for each automation, the one that the last `start` without a `rid` opened, and
 * the latest ones with a `rid`. They are in Redis, so that all ingest pods know them. Concurrent
 * pings get different runs. Methods take the name of an automation: {@link nameOf}. They reject
 * while Redis is unavailable. Requests during a call share the next one. A ping has its run to
 * itself until its last step, for which its caller does not wait.
 */
export class PingRuns {
  readonly #batches: Batches<string, string>;

  /**
   * @param callers a live counter of open connections.
   * @param isFull true while Redis takes no new automations.
   */
  constructor(redis: RedisClient, queueName: string, callers: { readonly open: number }, isFull = () => false) {
    const keys = parts.map((part) => queueKey(queueName, part));
    this.#batches = new Batches(async (items) => {
      return String(await script.run(redis, keys, [items.join(''), isFull() ? 'full' : ''])).split(';');
    }, callers);
  }

  /** Resolves when everything about runs is in Redis, or was lost. */
  drained(): Promise<void> {
    return this.#batches.drained();
  }

  /**
   * The names of an organization and of its automation; the letter case of its id does not matter.
   */
  nameOf(organization: string, automation: string): string {
    return `${hashedName(organization)} ${hashedName(organization, automation.toLowerCase())}`;
  }

  /**
   * Opens the run, and resolves with it, or with an earlier one whose START failed; `same` tells if
   * that one had the same text.
   * @throws {RequestError} `too-many-requests` beyond {@link mostAutomations}; `unavailable` for
   * another automation while Redis is nearly full. So does {@link named} for a start.
   */
  async open(automation: string, fresh: string, text: string) {
    const [run = '', same] = (await this.#ask('1open', automation, fresh, hashedName(text))).split(' ');
    return { run, same: same === '1' };
  }

  /** Records in the background that the START of the run is on disk. */
  confirm(automation: string, run: string): void {
    this.#post('1confirm', automation, run);
  }

  async find(automation: string): Promise<OpenRun | undefined> {
    const [run = '', started] = (await this.#ask('1find', automation)).split(' ');
    return run === '' ? undefined : { run, started: started === '1' };
  }

  /**
   * Takes the open run to end it: no other ping gets it until {@link release}. `end` is the id of
   * the first event of its end: the given one, or that of an attempt with the same text.
   */
  async take(automation: string, end: string, text: string): Promise<(OpenRun & { end: string }) | undefined> {
    const reply = await this.#ask('1take', automation, end, hashedName(text));
    const [run = '', started, first = end] = reply.split(' ');
    return run === '' ? undefined : { run, started: started === '1', end: first };
  }

  /** Gives the run to the next ping, in the background, after this one has failed. */
  release(automation: string, run: string): void {
    this.#post('1release', automation, run);
  }

  /** Closes the run in the background, unless a later one is open. */
  close(automation: string, run: string): void {
    this.#post('1close', automation, run);
  }

  /**
   * Resolves with the execution that a ping with a `rid` belongs to: the `rid`, unless an earlier
   * run of the automation had it; `fresh`, if the last run with it is over and the ping comes too
   * late to be a repeat.
   */
  async named(
    automation: string,
    rid: string,
    { kind, fresh }: { kind: 'start' | 'log' | 'finish'; fresh: string },
  ): Promise<string> {
    const run = await this.#ask(`2${kind}`, automation, hashedName(rid), fresh);
    return run === '' ? rid : run;
  }

  /** Records in the background that the END of the last run with the `rid` is on disk. */
  ended(automation: string, rid: string): void {
    this.#post('2ended', automation, hashedName(rid));
  }

  async #ask(operation: string, automation: string, one = '', two = ''): Promise<string> {
    const reply = await this.#batches.ask(`${operation} ${automation} ${one} ${two};`);
    if (reply === '!full') throw new Unavailable('Redis has no room for new runs of pings.', 'open-runs');
    if (reply === '!many') {
      const detail = `${mostAutomations} automations of this organization have runs of pings already.`;
      throw new RequestError('too-many-requests', detail);
    }
    return reply;
  }

  #post(operation: string, automation: string, one: string): void {
    this.#batches.post(`${operation} ${automation} ${one} ;`);
  }
}
