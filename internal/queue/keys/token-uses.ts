import { queueKey } from './keys.ts';
import type { RedisClient } from '../redis.ts';

/** Most tokens that a process remembers as noted. */
const mostNoted = 100_000;

const dayMs = 86_400_000;

/**
 * The days on which tokens were last used, on their way from ingest to the controller: a hash in
 * Redis. A process notes a token once a day. A lost day is followed by the next one.
 */
export class TokenUses {
  readonly #redis: RedisClient;
  readonly #key: string;
  #dayEndsAt = 0;
  readonly #noted = new Set<string>();

  constructor(redis: RedisClient, queueName: string) {
    this.#redis = redis;
    this.#key = queueKey(queueName, 'token-uses');
  }

  /** Notes the use of a token, by its id, in the background. */
  note(tokenId: string, now = Date.now()): void {
    if (this.#noted.has(tokenId) && now < this.#dayEndsAt) return;
    if (now >= this.#dayEndsAt || this.#noted.size >= mostNoted) this.#noted.clear();
    const day = new Date(now).toISOString().slice(0, 10);
    this.#dayEndsAt = Date.parse(day) + dayMs;
    this.#noted.add(tokenId);
    void this.#redis.hset(this.#key, tokenId, day).catch(() => this.#noted.delete(tokenId));
  }

  /** Returns days by token id; only some of them if there are many. */
  async read(): Promise<Map<string, string>> {
    const [, found] = await this.#redis.hscan(this.#key, 0, 'COUNT', 1_000);
    const uses = new Map<string, string>();
    for (let at = 0; at + 1 < found.length; at += 2) uses.set(found[at] ?? '', found[at + 1] ?? '');
    return uses;
  }

  /** Removes entries that are stored elsewhere. */
  async forget(ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await this.#redis.hdel(this.#key, ...ids);
  }
}
