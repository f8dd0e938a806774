import { hash } from 'node:crypto';
import type { AcceptedEvent, EventIdentity } from '../event/event.ts';
import { firstFields, textsOf } from '../event/fields.ts';
import { RequestError } from '../errors/request-error.ts';
import type { RedisClient } from './redis.ts';

/**
 * Lease of the first request with a key, in ms: longer than its caller waits. Afterwards a retry
 * takes over from a dead ingest pod. If the first commit still succeeds, it is the same event.
 */
const lease = 2_500;

/**
 * The value of a key: the identity first given to its event, and whether a commit of it was
 * acknowledged.
 */
export type Reservation = EventIdentity & { committed: boolean };

/**
 * Reserves keys for a request, or finds their states. With `all` it reserves none of them if one
 * cannot be; with `none` it never does. The first identity never changes: a retry after a crash or
 * a 503 enqueues the same (createdAt, id), and the store ignores the duplicate.
 */
const reserveScript = `
local function differ(stored, given)
  local digests = string.gmatch(given, '%S+')
  for one in string.gmatch(stored, '%S+') do
    local other = digests()
    if other and other ~= one then return true end
  end
  return false
end
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local which, lease, timeToLive = ARGV[1], ARGV[2], ARGV[3]
local found, refused = {}, false
for i, key in ipairs(KEYS) do
  local fingerprint, id, createdAt, later = ARGV[4 * i], ARGV[4 * i + 1], ARGV[4 * i + 2], ARGV[4 * i + 3]
  local seen = redis.call('HMGET', key, 'fingerprint', 'id', 'createdAt', 'committed', 'leaseUntil', 'later')
  if not seen[1] then found[i] = {'new', id, createdAt}
  elseif seen[1] ~= fingerprint or differ(seen[6] or '', later) then found[i] = {'other'}
  elseif seen[4] == '1' then found[i] = {'committed', seen[2], seen[3]}
  elseif tonumber(seen[5]) > now then found[i] = {'busy'}
  else found[i] = {'again', seen[2], seen[3]} end
  refused = refused or not found[i][2]
end
if which == 'none' or (refused and which == 'all') then return found end
for i, key in ipairs(KEYS) do
  local state = found[i][1]
  if state == 'new' then
    redis.call('HSET', key, 'fingerprint', ARGV[4 * i], 'id', ARGV[4 * i + 1], 'createdAt', ARGV[4 * i + 2],
      'committed', '0', 'leaseUntil', now + lease, 'later', ARGV[4 * i + 3])
    redis.call('PEXPIRE', key, timeToLive)
  elseif state == 'again' then redis.call('HSET', key, 'leaseUntil', now + lease) end
end
return found
`;

/** Sets one field of reservations. Returns the positions of those that do not exist. */
const markScript = `
local missing = {}
for i, key in ipairs(KEYS) do
  if redis.call('EXISTS', key) == 1 then redis.call('HSET', key, ARGV[1], ARGV[2])
  else missing[#missing + 1] = i end
end
return missing
`;

/** Gives reservations another identity. One that does not exist stays so. */
const identityScript = `
for i, key in ipairs(KEYS) do
  if redis.call('EXISTS', key) == 1 then
    redis.call('HSET', key, 'id', ARGV[2 * i - 1], 'createdAt', ARGV[2 * i], 'committed', '0')
  end
end
return 1
`;

/** An event with a key. All events of a request belong to one organization. */
export interface Keyed {
  key: string;
  event: AcceptedEvent;
}

/** The state of a key: an error means that it cannot be used now. */
export type Result = Reservation | RequestError;

/** Idempotency keys, in one place or in several. */
export interface Keys {
  /**
   * Reserves keys for events, in order. A key that cannot be reserved gives an error:
   * `idempotency-key-reused` (another body) or `request-in-progress`. With `all`, one such key
   * means that none is reserved; with `each`, the others are.
   */
  reserve(keyed: readonly Keyed[], which: 'all' | 'each'): Promise<Result[]>;

  /** The results of {@link reserve}, without a reservation. */
  look(keyed: readonly Keyed[]): Promise<Result[]>;

  /** Marks the events as acknowledged: from now on their keys answer without a commit. */
  markCommitted(keyed: readonly Keyed[]): Promise<void>;

  /** Lets the next request with these keys start at once, after this one got no acknowledgement. */
  release(keyed: readonly Keyed[]): Promise<void>;

  /** Gives the reservations the identities of the events; see {@link MirroredKeys}. */
  replaceIdentity(keyed: readonly Keyed[]): Promise<void>;
}

/** True if the key cannot be used now. */
export function isRefused(result: Result): result is RequestError {
  return result instanceof RequestError;
}

/**
 * Stores the state of requests with an `Idempotency-Key`
 * (draft-ietf-httpapi-idempotency-key-header-07), in one slot of Redis.
 */
export class IdempotencyKeys implements Keys {
  readonly #redis: RedisClient;
  readonly #prefix: string;
  readonly #keptMs: number;

  /**
   * @param prefix begins the names of the keys, and has the hash tag of the slot.
   * @param keptMs how long a key is remembered, from its first request.
   */
  constructor(redis: RedisClient, prefix: string, keptMs: number) {
    this.#redis = redis;
    this.#prefix = prefix;
    this.#keptMs = keptMs;
  }

  async reserve(keyed: readonly Keyed[], which: 'all' | 'each'): Promise<Result[]> {
    return this.#ask(keyed, which);
  }

  async look(keyed: readonly Keyed[]): Promise<Result[]> {
    return this.#ask(keyed, 'none');
  }

  async #ask(keyed: readonly Keyed[], which: 'all' | 'each' | 'none'): Promise<Result[]> {
    const values = keyed.flatMap(({ event }) => [fingerprint(event), event.id, event.createdAt, laterFields(event)]);
    const keys = this.#keysOf(keyed);
    const reply = await this.#redis.eval(reserveScript, keys.length, ...keys, which, lease, this.#keptMs, ...values);
    return (reply as [string, string, string][]).map(([state, id, createdAt]) => {
      if (state === 'other')
        return new RequestError('idempotency-key-reused', 'This Idempotency-Key was used with another body.');
      if (state === 'busy')
        return new RequestError(
          'request-in-progress',
          'The first request with this Idempotency-Key is still under way.',
        );
      return { id, createdAt: Number(createdAt), committed: state === 'committed' };
    });
  }

  async markCommitted(keyed: readonly Keyed[]): Promise<void> {
    await this.#mark(keyed, 'committed', '1');
  }

  async release(keyed: readonly Keyed[]): Promise<void> {
    await this.#mark(keyed, 'leaseUntil', '0');
  }

  async replaceIdentity(keyed: readonly Keyed[]): Promise<void> {
    const keys = this.#keysOf(keyed);
    await this.#redis.eval(
      identityScript,
      keys.length,
      ...keys,
      ...keyed.flatMap(({ event }) => [event.id, event.createdAt]),
    );
  }

  async #mark(keyed: readonly Keyed[], field: string, value: string): Promise<void> {
    const missing = await this.#set(keyed, field, value);
    if (missing.length === 0) return;
    // A failover can lose a reservation before the events go to the new master. A retry must not
    // get another identity.
    await this.reserve(missing, 'each');
    await this.#set(missing, field, value);
  }

  /** Resolves with the events whose reservation does not exist. */
  async #set(keyed: readonly Keyed[], field: string, value: string): Promise<Keyed[]> {
    const keys = this.#keysOf(keyed);
    const missing = await this.#redis.eval(markScript, keys.length, ...keys, field, value);
    return (missing as number[]).flatMap((position) => keyed[position - 1] ?? []);
  }

  #keysOf(keyed: readonly Keyed[]): string[] {
    return keyed.map((each) => `${this.#prefix}:${nameOf(each)}`);
  }
}

/** The name of a key, in each place that has it. */
export function nameOf({ key, event }: Keyed): string {
  return `${event.organization}:${key}`;
}

/**
 * Equal for equal requests, over the fields of the first release: every release computes the same
 * value.
 */
function fingerprint(event: AcceptedEvent): string {
  const { automationId, executionId, kind } = event;
  const texts = textsOf(event).slice(0, firstFields);
  return hash('sha256', JSON.stringify([automationId, executionId, kind, ...texts]));
}

/**
 * A word for each field of a later release: the time at which the event occurred, and a digest for
 * each text. Two releases compare only the fields that both know. A retry across a deploy that
 * added a field is then still the same request.
 */
function laterFields(event: AcceptedEvent): string {
  const texts = textsOf(event).slice(firstFields);
  return [event.occurredAt ?? '-', ...texts.map((text) => hash('sha256', text))].join(' ');
}
