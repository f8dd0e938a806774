import { hash } from 'node:crypto';
import type { AcceptedEvent, EventIdentity } from '../event/event.ts';
import { firstFields, textsOf } from '../event/fields.ts';
import { RequestError } from '../errors/request-error.ts';
import { keyPrefix } from './keys.ts';
import type { RedisClient } from './redis.ts';

/** A key is remembered for 24 h (ARCHITECTURE.md, "Decisions"). In ms. */
const timeToLive = 24 * 60 * 60 * 1_000;

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
 * Reserves the key for a request, or finds its state. The first identity never changes: a retry
 * after a crash or a 503 enqueues the same (createdAt, id), and the store ignores the duplicate.
 */
const reserveScript = `
local seen = redis.call('HMGET', KEYS[1], 'fingerprint', 'id', 'createdAt', 'committed', 'leaseUntil', 'later')
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
if not seen[1] then
  redis.call('HSET', KEYS[1], 'fingerprint', ARGV[1], 'id', ARGV[2], 'createdAt', ARGV[3], 'committed', '0', 'leaseUntil', now + ARGV[4], 'later', ARGV[6])
  redis.call('PEXPIRE', KEYS[1], ARGV[5])
  return {'0', ARGV[2], ARGV[3]}
end
if seen[1] ~= ARGV[1] or differ(seen[6] or '', ARGV[6]) then return {'other'} end
if seen[4] == '1' then return {'1', seen[2], seen[3]} end
if tonumber(seen[5]) > now then return {'busy'} end
redis.call('HSET', KEYS[1], 'leaseUntil', now + ARGV[4])
return {'0', seen[2], seen[3]}
`;

/** Sets one field of a reservation, unless it has expired. */
const markScript = `
if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('HSET', KEYS[1], ARGV[1], ARGV[2]) end
return 1
`;

/**
 * Stores the state of requests with an `Idempotency-Key`
 * (draft-ietf-httpapi-idempotency-key-header-07).
 */
export class IdempotencyKeys {
  readonly #redis: RedisClient;
  readonly #queueName: string;

  constructor(redis: RedisClient, queueName: string) {
    this.#redis = redis;
    this.#queueName = queueName;
  }

  /**
   * Reserves the key for this event.
   * @throws {RequestError} `idempotency-key-reused` (another body) or `request-in-progress`.
   */
  async reserve(key: string, event: AcceptedEvent): Promise<Reservation> {
    const args = [fingerprint(event), event.id, event.createdAt, lease, timeToLive, laterFields(event)];
    const reply = await this.#redis.eval(reserveScript, 1, this.#keyOf(event.organization, key), ...args);
    const [state, id, createdAt] = reply as [string, string, string];
    if (state === 'other') {
      throw new RequestError('idempotency-key-reused', 'This Idempotency-Key was used with another body.');
    }
    if (state === 'busy') {
      throw new RequestError('request-in-progress', 'The first request with this Idempotency-Key is still under way.');
    }
    return { id, createdAt: Number(createdAt), committed: state === '1' };
  }

  /** Marks the event as acknowledged: from now on the key answers without a commit. */
  async markCommitted(key: string, organization: string): Promise<void> {
    await this.#redis.eval(markScript, 1, this.#keyOf(organization, key), 'committed', '1');
  }

  /** Lets the next request with the key start at once, after this one got no acknowledgement. */
  async release(key: string, organization: string): Promise<void> {
    await this.#redis.eval(markScript, 1, this.#keyOf(organization, key), 'leaseUntil', '0');
  }

  #keyOf(organization: string, key: string): string {
    return `${keyPrefix}:${this.#queueName}:idempotency:${organization}:${key}`;
  }
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
 * A digest for each field of a later release. Two releases compare only the fields that both know.
 * A retry across a deploy that added a field is then still the same request.
 */
function laterFields(event: AcceptedEvent): string {
  const texts = textsOf(event).slice(firstFields);
  return texts.map((text) => hash('sha256', text)).join(' ');
}
