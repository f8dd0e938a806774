import { hash } from 'node:crypto';
import type { AcceptedEvent, EventGroup, EventIdentity } from '../../event/event.ts';
import { firstFields, textsOf } from '../../event/fields.ts';
import { isDerived, type RepeatKey } from '../../event/repeat-key.ts';
import { RequestError } from '../../kit/errors/request-error.ts';
import { hashedName } from './keys.ts';
import type { RedisClient } from '../redis.ts';

/**
 * Lease of the first request with a key, in ms: longer than its caller waits. Afterwards a retry
 * takes over from a dead ingest pod. If the first commit still succeeds, it is the same event.
 */
const lease = 2_500;

/**
 * The value of a key: the identities first given to its events, in order, and whether a commit of
 * them was acknowledged.
 */
export interface Reservation {
  identities: readonly EventIdentity[];
  committed: boolean;
}

/**
 * Reserves keys for a request, or finds their states. With `all` it reserves none of them if one
 * cannot be; with `none` it never does. The first identities never change: a retry after a crash or
 * a 503 enqueues the same (createdAt, id), and the store ignores the duplicates. Other texts under
 * a derived key replace those of an attempt that nobody acknowledged.
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
  local fingerprint, identities, later, derived = ARGV[4 * i], ARGV[4 * i + 1], ARGV[4 * i + 2], ARGV[4 * i + 3]
  local seen = redis.call('HMGET', key, 'fingerprint', 'identities', 'committed', 'leaseUntil', 'later')
  local other = seen[1] and (seen[1] ~= fingerprint or differ(seen[5] or '', later))
  if not seen[1] then found[i] = {'new', identities}
  elseif other and (derived == '0' or seen[3] == '1') then found[i] = {'other'}
  elseif seen[3] == '1' then found[i] = {'committed', seen[2]}
  elseif tonumber(seen[4]) > now then found[i] = {'busy'}
  else found[i] = {other and 'replaced' or 'again', seen[2]} end
  refused = refused or not found[i][2]
end
if which == 'none' or (refused and which == 'all') then return found end
for i, key in ipairs(KEYS) do
  local state = found[i][1]
  if state == 'new' then
    redis.call('HSET', key, 'identities', ARGV[4 * i + 1], 'committed', '0')
    redis.call('PEXPIRE', key, timeToLive)
  end
  if state == 'new' or state == 'replaced' then
    redis.call('HSET', key, 'fingerprint', ARGV[4 * i], 'later', ARGV[4 * i + 2])
  end
  if found[i][2] and state ~= 'committed' then redis.call('HSET', key, 'leaseUntil', now + lease) end
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

/** Gives reservations other identities. One that does not exist stays so. */
const identityScript = `
for i, key in ipairs(KEYS) do
  if redis.call('EXISTS', key) == 1 then redis.call('HSET', key, 'identities', ARGV[i], 'committed', '0') end
end
return 1
`;

/** Events with a key. All events of a request belong to one organization. */
export interface Keyed extends EventGroup {
  readonly key: RepeatKey;
}

/** The state of a key: an error means that it cannot be used now. */
export type Result = Reservation | RequestError;

/** Idempotency keys, in one place or in several. */
export interface Keys {
  /**
   * Reserves keys for events, in order of the groups. A key that cannot be reserved gives an error:
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

/** The events with the identities that their key got first, in order. */
export function withIdentities(
  events: readonly AcceptedEvent[],
  identities: readonly EventIdentity[],
): readonly AcceptedEvent[] {
  return events.map((event, at) => ({ ...event, ...identities[at] }));
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
    const values = keyed.flatMap(({ key, events }) => {
      return [fingerprint(events), identitiesOf(events), laterFields(events), isDerived(key) ? '1' : '0'];
    });
    const keys = this.#keysOf(keyed);
    const reply = await this.#redis.eval(reserveScript, keys.length, ...keys, which, lease, this.#keptMs, ...values);
    return (reply as [string, string][]).map(([state, identities]) => {
      if (state === 'other')
        return new RequestError('idempotency-key-reused', 'This Idempotency-Key was used with another body.');
      if (state === 'busy')
        return new RequestError(
          'request-in-progress',
          'The first request with this Idempotency-Key is still under way.',
        );
      return { identities: identitiesIn(identities), committed: state === 'committed' };
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
    const identities = keyed.map(({ events }) => identitiesOf(events));
    await this.#redis.eval(identityScript, keys.length, ...keys, ...identities);
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

/**
 * The name of a key, in each place that has it: a hash of its organization and of its parts, apart
 * from each other. So neither an organization nor a key can imitate the name of another.
 */
export function nameOf({ key, events: [first] }: Keyed): string {
  return hashedName(first?.organization ?? '', ...key);
}

function identitiesOf(events: readonly AcceptedEvent[]): string {
  return events.map(({ id, createdAt }) => `${id} ${createdAt}`).join(' ');
}

function identitiesIn(text: string): EventIdentity[] {
  const words = text.split(' ');
  return Array.from({ length: words.length / 2 }, (_, at) => {
    return { id: words[2 * at] ?? '', createdAt: Number(words[2 * at + 1]) };
  });
}

/**
 * Equal for equal requests, over the fields of the first release: every release computes the same
 * value. The letter case of an automation's id says nothing.
 */
function fingerprint(events: readonly AcceptedEvent[]): string {
  const rows = events.map((event) => {
    const { automationId, executionId, kind } = event;
    return [automationId.toLowerCase(), executionId, kind, ...textsOf(event).slice(0, firstFields)];
  });
  return hash('sha256', JSON.stringify(rows));
}

/**
 * A word for each field of a later release, over all events: the times at which they occurred, and
 * a digest of the texts. Two releases compare only the fields that both know. A retry across a
 * deploy that added a field is then still the same request.
 */
function laterFields(events: readonly AcceptedEvent[]): string {
  const times = events.map(({ occurredAt }) => occurredAt ?? '-').join(',');
  const texts = events.map((event) => textsOf(event).slice(firstFields));
  const digests = texts[0]?.map((_, field) => hash('sha256', JSON.stringify(texts.map((each) => each[field])))) ?? [];
  return [times, ...digests].join(' ');
}
