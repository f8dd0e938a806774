import { storable } from '../../event/stored-text.ts';
import { hashedName, queueKey } from './keys.ts';
import type { RedisClient } from '../redis.ts';

/** Longest name, in characters: the limit of a declared name. */
const longestName = 200;

/** Most names that wait for a controller, and most that a pod remembers as noted. */
const mostWaiting = 20_000;
const mostNoted = 10_000;

/** After this time, in ms, a pod notes a name again, since its row may be gone. */
const notedMs = 60 * 60 * 1_000;

const noteScript = `
if redis.call('HLEN', KEYS[1]) < ${mostWaiting} then redis.call('HSET', KEYS[1], ARGV[1], ARGV[2]) end
return 1
`;

/** The name that an organization's tools give an automation. */
export interface AutomationName {
  readonly organization: string;
  readonly automationId: string;
  readonly name: string;
}

/**
 * Names that tools give to automations, on their way from ingest to the controller: a hash in
 * Redis. A name is not part of the record; a lost one comes again with a later event.
 */
export class AutomationNames {
  readonly #redis: RedisClient;
  readonly #key: string;
  readonly #noted = new Map<string, number>();

  constructor(redis: RedisClient, queueName: string) {
    this.#redis = redis;
    this.#key = queueKey(queueName, 'names');
  }

  /** Notes a name in the background, unless this process did so within the last hour. */
  note(organization: string, automation: string, name: string, now = Date.now()): void {
    const automationId = automation.toLowerCase();
    const field = hashedName(organization, automationId);
    const noted = this.#noted.get(field);
    if (noted !== undefined && now - noted < notedMs) return;
    if (this.#noted.size >= mostNoted) this.#noted.clear();
    this.#noted.set(field, now);
    const value = JSON.stringify([organization, automationId, storable(name, longestName)]);
    void this.#redis.eval(noteScript, 1, this.#key, field, value).catch(() => this.#noted.delete(field));
  }

  /** Returns waiting names by field; only some of them if there are many. */
  async read(): Promise<Map<string, AutomationName>> {
    const [, found] = await this.#redis.hscan(this.#key, 0, 'COUNT', 1_000);
    const names = new Map<string, AutomationName>();
    for (let at = 0; at + 1 < found.length; at += 2) {
      const [organization = '', automationId = '', name = ''] = JSON.parse(found[at + 1] ?? '[]') as string[];
      names.set(found[at] ?? '', { organization, automationId, name });
    }
    return names;
  }

  /** Removes names that are stored elsewhere. */
  async forget(fields: readonly string[]): Promise<void> {
    if (fields.length > 0) await this.#redis.hdel(this.#key, ...fields);
  }
}
