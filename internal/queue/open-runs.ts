import { hashedName, queueKey } from './keys.ts';
import type { RedisClient } from './redis.ts';

/** How long a run without an end stays open, in ms. */
const keptMs = 30 * 24 * 60 * 60 * 1_000;

/** Continues a run whose START got no answer; otherwise opens the given one. */
const openScript = `
local run, confirmed = unpack(redis.call('HMGET', KEYS[1], 'run', 'confirmed'))
if not run or confirmed == '1' then run = ARGV[1] end
redis.call('HSET', KEYS[1], 'run', run, 'confirmed', '0')
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return run
`;

const confirmScript = `
if redis.call('HGET', KEYS[1], 'run') == ARGV[1] then redis.call('HSET', KEYS[1], 'confirmed', '1') end
return 1
`;

const closeScript = `
if redis.call('HGET', KEYS[1], 'run') == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1
`;

/** A run that a ping started and no ping ended. `confirmed`: its START is on disk. */
interface OpenRun {
  run: string;
  confirmed: boolean;
}

/**
 * The run that the last ping `start` without a `rid` opened, for each automation. In Redis, so that
 * all ingest pods know it. Methods reject if Redis is not available.
 */
export class OpenRuns {
  readonly #redis: RedisClient;
  readonly #queueName: string;

  constructor(redis: RedisClient, queueName: string) {
    this.#redis = redis;
    this.#queueName = queueName;
  }

  /** Opens the run, and resolves with it. Resolves with an earlier one that is not confirmed. */
  async open(organization: string, automation: string, run: string): Promise<string> {
    return String(await this.#redis.eval(openScript, 1, this.#key(organization, automation), run, keptMs));
  }

  /** Notes that the START of the run is on disk. */
  async confirm(organization: string, automation: string, run: string): Promise<void> {
    await this.#redis.eval(confirmScript, 1, this.#key(organization, automation), run);
  }

  async find(organization: string, automation: string): Promise<OpenRun | undefined> {
    const [run, confirmed] = await this.#redis.hmget(this.#key(organization, automation), 'run', 'confirmed');
    return typeof run === 'string' ? { run, confirmed: confirmed === '1' } : undefined;
  }

  /** Closes the run, unless a later one is open. */
  async close(organization: string, automation: string, run: string): Promise<void> {
    await this.#redis.eval(closeScript, 1, this.#key(organization, automation), run);
  }

  #key(organization: string, automation: string): string {
    return `${queueKey(this.#queueName, 'open-run')}:${hashedName(organization, automation.toLowerCase())}`;
  }
}
