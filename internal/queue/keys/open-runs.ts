import { hashedName, queueKey } from './keys.ts';
import type { RedisClient } from '../redis.ts';

/** How long a run without an end stays open, in ms. */
const keptMs = 30 * 24 * 60 * 60 * 1_000;

/**
 * How long a ping has a run to itself, in ms: longer than the lease of its idempotency key. Another
 * ping takes it later, if the pod has died.
 */
const leaseMs = 3_000;

const clock = `
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local run, confirmed, opening, ending = unpack(redis.call('HMGET', KEYS[1], 'run', 'confirmed', 'opening', 'ending'))
local isOpening, isEnding = tonumber(opening or 0) > now, tonumber(ending or 0) > now
`;

/** Continues a run whose START has failed; otherwise opens the given one. */
const openScript = `${clock}
if not run or confirmed == '1' or isOpening or isEnding then run = ARGV[1] end
redis.call('HSET', KEYS[1], 'run', run, 'confirmed', '0', 'opening', now + ARGV[3], 'ending', '0')
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return run
`;

const takeScript = `${clock}
if not run or isEnding then return nil end
redis.call('HSET', KEYS[1], 'ending', now + ARGV[1])
return {run, (confirmed == '1' or isOpening) and '1' or '0'}
`;

/** Sets fields of the run, unless another one is open. */
const setScript = `
if redis.call('HGET', KEYS[1], 'run') == ARGV[1] then redis.call('HSET', KEYS[1], unpack(ARGV, 2)) end
return 1
`;

const closeScript = `
if redis.call('HGET', KEYS[1], 'run') == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1
`;

/** A run that a ping started and no ping ended. */
export interface OpenRun {
  run: string;
  /** True if its START is on disk, or about to be. */
  started: boolean;
}

/**
 * The run that the last ping `start` without a `rid` opened, for each automation. In Redis, so that
 * all ingest pods know it. Of pings at the same time each has another run. Methods reject if Redis
 * is not available.
 */
export class OpenRuns {
  readonly #redis: RedisClient;
  readonly #queueName: string;

  constructor(redis: RedisClient, queueName: string) {
    this.#redis = redis;
    this.#queueName = queueName;
  }

  /** Opens the run, and resolves with it. Resolves with an earlier one whose START has failed. */
  async open(organization: string, automation: string, run: string): Promise<string> {
    return String(await this.#redis.eval(openScript, 1, this.#key(organization, automation), run, keptMs, leaseMs));
  }

  /** Notes that the START of the run is on disk. */
  async confirm(organization: string, automation: string, run: string): Promise<void> {
    await this.#set(organization, automation, run, 'confirmed', '1', 'opening', '0');
  }

  async find(organization: string, automation: string): Promise<OpenRun | undefined> {
    const [run, confirmed] = await this.#redis.hmget(this.#key(organization, automation), 'run', 'confirmed');
    return typeof run === 'string' ? { run, started: confirmed === '1' } : undefined;
  }

  /** Takes the open run to end it: no other ping gets it until {@link release}. */
  async take(organization: string, automation: string): Promise<OpenRun | undefined> {
    const taken = await this.#redis.eval(takeScript, 1, this.#key(organization, automation), leaseMs);
    if (!Array.isArray(taken)) return undefined;
    const [run, started] = taken as [string, string];
    return { run, started: started === '1' };
  }

  /** Gives the run to the next ping at once, after this one has failed. */
  async release(organization: string, automation: string, run: string): Promise<void> {
    await this.#set(organization, automation, run, 'opening', '0', 'ending', '0');
  }

  /** Closes the run, unless a later one is open. */
  async close(organization: string, automation: string, run: string): Promise<void> {
    await this.#redis.eval(closeScript, 1, this.#key(organization, automation), run);
  }

  async #set(organization: string, automation: string, run: string, ...fields: string[]): Promise<void> {
    await this.#redis.eval(setScript, 1, this.#key(organization, automation), run, ...fields);
  }

  #key(organization: string, automation: string): string {
    return `${queueKey(this.#queueName, 'open-run')}:${hashedName(organization, automation.toLowerCase())}`;
  }
}
