import { hash } from 'node:crypto';
import { Batches } from '../../kit/async/batches.ts';
import { within } from '../../kit/async/within.ts';
import type { AddJob } from '../adding.ts';
import type { RedisClient } from '../redis.ts';
import type { RedisScript } from '../redis-script.ts';
import type { AcceptedEvent, EventGroup } from '../../event/event.ts';
import { firstFields, optionalFields, textsOf } from '../../event/fields.ts';
import { bytesOfId, idOfBytes, laterIdentity, timeOfId } from '../../event/identity.ts';
import { isDerived, type RepeatKey } from '../../event/repeat-key.ts';
import { RequestError, Unavailable } from '../../kit/errors/request-error.ts';
import { keyScript, nameBytes } from './idempotency-script.ts';
import type { Place, Places } from './idempotency-places.ts';

/**
 * Lease of the first request with a key, in ms: longer than its caller waits. After it, a retry
 * takes over from a dead ingest pod. If the first commit still succeeds, it is the same event.
 */
const leaseMs = 2_500;

/** How long to wait for one of two places, in ms, before the other decides alone. */
export const placeReplyMs = 500;

/** Bytes of the script's reply for an item: its number, state, identity. */
const replySize = 2 + 1 + 16;

/** Events with a key. All events of a request belong to one organization. */
export interface Keyed extends EventGroup {
  readonly key: RepeatKey;
}

/** A claim, and the place of its first event in a job. */
export interface JobClaim {
  readonly claim: Claim;
  readonly from: number;
}

const keysAlone = keyScript();

/** What a place knows about a key, and the identity of its first event as 16 characters. */
interface Found {
  state: 'n' | 'a' | 'c' | 'b' | 'o' | 'f';
  id: string;
}

/** The letters of the script's operations. */
type Operation = 'c' | 'r' | 'm' | 'w' | 'l' | 'u';

/**
 * What the script needs to know about a key: bytes as characters, since Node takes longer for a
 * buffer than for a short string.
 */
interface Item {
  readonly isDerived: boolean;
  /** How many events it has. */
  readonly count: number;
  readonly name: string;
  readonly id: string;
  readonly fingerprint: string;
}

/** What is asked about a key. */
type Asked = readonly [head: string, item: Item];

/** `from`: the place of its first event in a job. */
function headOf(operation: Operation, { isDerived, count }: Item, from = 0): string {
  return operation + (isDerived ? '1' : '0') + twoBytes(from) + twoBytes(count);
}

function twoBytes(number: number): string {
  return String.fromCharCode(number >> 8, number & 0xff);
}

/**
 * A key of this request, with its events: as they were first accepted, once a place has answered.
 */
export class Claim {
  /** The events of this request, with the identities that a repeat derives from the first. */
  readonly sent: readonly AcceptedEvent[];
  item: Item;
  #events: readonly AcceptedEvent[];
  #state: Found['state'] = 'n';

  constructor(keyed: Keyed) {
    const { events } = keyed;
    this.item = itemOf(keyed);
    this.#events = this.sent = events.length === 1 ? events : identifiedBy(events[0]?.id ?? '', events);
  }

  get events(): readonly AcceptedEvent[] {
    return this.#events;
  }

  /** True if a commit of the events was acknowledged. */
  get committed(): boolean {
    return this.#state === 'c';
  }

  /** True if this request was the first with the key. */
  get isNew(): boolean {
    return this.#state === 'n';
  }

  /** Why the key cannot be used; undefined if it can. */
  get refusal(): RequestError | undefined {
    return refusalOf(this.#state);
  }

  /** Takes the answer of a place. */
  learn({ state, id }: Found): void {
    this.#state = state;
    if (this.refusal !== undefined || id === this.item.id) return;
    this.item = { ...this.item, id };
    this.#events = identifiedBy(idOfBytes(Buffer.from(id, 'latin1')), this.sent);
  }
}

/** All identities follow from the first, the only one that is stored. */
function identifiedBy(first: string, events: readonly AcceptedEvent[]): AcceptedEvent[] {
  const identity = { id: first, createdAt: timeOfId(first) };
  return events.map((event, at) => ({ ...event, ...laterIdentity(identity, at) }));
}

export interface IdempotencyOptions {
  all: Places['all'];
  placesOf: Places['placesOf'];
  placeOfAll?: Places['placeOfAll'];
  /** The least time to remember a key, in ms; it is forgotten before twice that time. */
  keptMs: number;
  /** A live counter of open connections. */
  callers: { readonly open: number };
  /** True while new keys are refused. */
  isFull?: (() => boolean) | undefined;
}

/**
 * Idempotency keys (draft-ietf-httpapi-idempotency-key-header-07). The first identities of a key
 * never change: a retry after a crash or a 503 enqueues the same (createdAt, id), and the store
 * ignores the duplicates. Requests to a place during a call share the next call.
 */
export class IdempotencyKeys {
  readonly #options: IdempotencyOptions;
  readonly #batches = new Map<Place, Batches<Asked, Found>>();

  constructor(options: IdempotencyOptions) {
    this.#options = options;
  }

  /** True if a key can be written together with the job of its events: {@link commit}. */
  get joinJobs(): boolean {
    return this.#options.placeOfAll !== undefined;
  }

  /**
   * Adds a job by `script`, from {@link keyScript}, with the keys of some of its events. A claim
   * learns whether its events are in the job. Rejects if neither the job nor a key was written.
   */
  async commit(redis: RedisClient, claims: readonly JobClaim[], events: number, job: AddJob): Promise<void> {
    const { placeOfAll } = this.#options;
    if (placeOfAll === undefined) throw new Error('keys and jobs are in several places');
    const items = claims.map(({ claim: { item }, from }) => [headOf('c', item, from), item] as const);
    const place = { redis, key: placeOfAll.key };
    const found = await this.#run(job.script, place, items, job.keys, [events, ...job.args]);
    for (const [at, one] of found.entries()) claims[at]?.claim.learn(one);
  }

  /**
   * Reserves a key, or finds its state. Resolves with an error if it cannot be used:
   * `idempotency-key-reused` (another body), `request-in-progress`, or `unavailable` for a new key
   * while Redis is nearly full. Under a derived key, other texts replace those of an attempt that
   * was never acknowledged. Rejects when no place of the key answers.
   */
  async reserve(keyed: Keyed): Promise<Claim | RequestError> {
    const claim = new Claim(keyed);
    const { item } = claim;
    const [first, second] = this.#options.placesOf(item.name);
    claim.learn(
      second === undefined ? await this.#ask(first, 'r', item) : await this.#reserveInBoth(first, second, item),
    );
    return claim.refusal ?? claim;
  }

  /** Marks the events as acknowledged: from now on the key answers without a commit. */
  markCommitted(claim: Claim): void {
    this.#everywhere('m', claim);
  }

  /** Lets the next request with the key start immediately: this one got no acknowledgement. */
  release(claim: Claim): void {
    this.#everywhere('l', claim);
  }

  /** Gives up a reservation whose events were not sent, so that a new key is not bound to them. */
  undo(claim: Claim): void {
    this.#everywhere(claim.isNew ? 'u' : 'l', claim);
  }

  /** Forgets what is too old, where no request has done that. */
  async sweep(): Promise<void> {
    await Promise.allSettled(this.#options.all.map((place) => this.#run(keysAlone, place, [])));
  }

  /** Resolves when everything about keys is in Redis, or was lost. */
  async drained(): Promise<void> {
    await Promise.all([...this.#batches.values()].map((batches) => batches.drained()));
  }

  /**
   * The first place gives the identity. The second holds a copy before the commit, and decides when
   * both answer, since it gave another identity only while the first was away. The first then
   * learns it.
   */
  async #reserveInBoth(first: Place, second: Place, item: Item): Promise<Found> {
    const one = await within(placeReplyMs, this.#ask(first, 'r', item)).catch(() => undefined);
    if (one === undefined) return this.#ask(second, 'r', item);
    if (refusalOf(one.state) !== undefined) return one;
    const copy = { ...item, id: one.id };
    const two = await within(placeReplyMs, this.#ask(second, 'r', copy)).catch(() => undefined);
    if (two === undefined || (one.state === 'c' && two.state !== 'c')) return one;
    const repair = repairOf(one, two);
    if (repair !== undefined) {
      const learns = this.#ask(first, repair, repair === 'l' ? copy : { ...item, id: two.id });
      await within(placeReplyMs, learns).catch(() => undefined);
    }
    return two.state === 'n' ? { ...two, state: one.state } : two;
  }

  /** Runs in the background; the caller does not wait. */
  #everywhere(operation: Operation, { item }: Claim): void {
    for (const place of this.#options.placesOf(item.name)) {
      if (place !== undefined) this.#batchesOf(place).post([headOf(operation, item), item]);
    }
  }

  #ask(place: Place, operation: Operation, item: Item): Promise<Found> {
    return this.#batchesOf(place).ask([headOf(operation, item), item]);
  }

  #batchesOf(place: Place): Batches<Asked, Found> {
    let batches = this.#batches.get(place);
    if (batches === undefined) {
      batches = new Batches((items) => this.#run(keysAlone, place, items), this.#options.callers);
      this.#batches.set(place, batches);
    }
    return batches;
  }

  async #run(
    script: RedisScript,
    { redis, key }: Place,
    items: readonly Asked[],
    keys: readonly string[] = [],
    more: readonly (string | number | Buffer)[] = [],
  ): Promise<Found[]> {
    const { keptMs, isFull } = this.#options;
    const heads = Buffer.from(items.map(([head]) => head).join(''), 'latin1');
    const texts = Buffer.from(items.map(([, { name, id, fingerprint }]) => name + id + fingerprint).join(''), 'latin1');
    const areApart = more.length > 0 && new Set(items.map(([, { name }]) => name)).size === items.length;
    const mode = isFull?.() === true ? 'full' : areApart ? 'apart' : '';
    const args = [keptMs, leaseMs, mode, heads, texts, ...more];
    const reply = (await script.run(redis, [key, ...keys], args)) as Buffer;
    const found = items.map(([, { id }]): Found => ({ state: 'n', id }));
    for (let at = 0; at < reply.length; at += replySize) {
      const state = reply.toString('latin1', at + 2, at + 3) as Found['state'];
      found[reply.readUInt16BE(at)] = { state, id: reply.toString('latin1', at + 3, at + replySize) };
    }
    return found;
  }
}

/** What the first place must learn from the second. */
function repairOf(one: Found, two: Found): Operation | undefined {
  if (refusalOf(two.state) !== undefined) return 'l';
  if (two.state === 'c') return one.state === 'c' && one.id === two.id ? undefined : 'm';
  return one.id === two.id ? undefined : 'w';
}

function refusalOf(state: Found['state']): RequestError | undefined {
  if (state === 'o')
    return new RequestError('idempotency-key-reused', 'This Idempotency-Key was used with another body.');
  if (state === 'b')
    return new RequestError('request-in-progress', 'The first request with this Idempotency-Key is still under way.');
  if (state === 'f') return new Unavailable('Redis has no room for new Idempotency-Keys.', 'idempotency-keys');
  return undefined;
}

/**
 * The name of a key in each of its places: a hash of its organization and of its parts, kept apart
 * from each other. So neither an organization nor a key can imitate another.
 */
export function nameOf(organization: string, key: RepeatKey): string {
  return digest([organization, ...key], nameBytes);
}

function digest(value: unknown, bytes: number): string {
  return hash('sha256', JSON.stringify(value), 'binary').slice(0, bytes);
}

function itemOf({ key, events, instants }: Keyed): Item {
  const { organization = '', id = '' } = events[0] ?? {};
  return {
    isDerived: isDerived(key),
    count: events.length,
    name: nameOf(organization, key),
    id: bytesOfId(id).toString('latin1'),
    fingerprint: fingerprintOf(events, instants ?? events.map(({ occurredAt }) => occurredAt)),
  };
}

/** The fingerprint of values that are absent. */
const absent = '\0\0\0\0';

/**
 * Equal for equal requests: covers the fields of the first release, then the times of occurrence,
 * then each field of a later release. Two releases compare only the fields that both know. A retry
 * across a deploy that added a field is then still the same request. The letter case of an
 * automation's id does not matter.
 */
function fingerprintOf(events: readonly AcceptedEvent[], times: readonly unknown[]): string {
  const texts = events.map(textsOf);
  const rows = events.map(({ automationId, executionId, kind }, at) => {
    return [automationId.toLowerCase(), executionId, kind, ...(texts[at]?.slice(0, firstFields) ?? [])];
  });
  const later = optionalFields.slice(firstFields).map((_, field) => texts.map((each) => each[firstFields + field]));
  return [digest(rows, 8), printOf(times), ...later.map(printOf)].join('');
}

/** The fingerprint of one field of all events. */
function printOf(values: readonly unknown[]): string {
  return values.every((value) => value === undefined || value === '') ? absent : digest(values, 4);
}
