import { queueKey } from '../keys/keys.ts';
import type { RedisClient } from '../redis.ts';

/** Least time between two notes about an organization, in ms. */
const noteMs = 1_000;

/**
 * Notes in Redis which organizations have events in the overflow lane, so that the controller knows
 * whose record is not complete (`queue-clock.ts`).
 */
export class OverflowNotes {
  readonly #redis: RedisClient;
  readonly #key: string;
  /** By organization, the time of its last note. */
  readonly #notedAt = new Map<string, number>();

  constructor(redis: RedisClient, queueName: string) {
    this.#redis = redis;
    this.#key = queueKey(queueName, 'overflowing');
  }

  /**
   * Resolves once Redis has the notes. The job with their events must be added after that, with a
   * timestamp of the same clock.
   */
  async note(organizations: Iterable<string>): Promise<void> {
    const now = Date.now();
    const due = [...new Set(organizations)].filter((each) => !this.#isNoted(each, now));
    if (due.length === 0) return;
    // GT: a pod whose clock is behind does not take a note back.
    await this.#redis.zadd(this.#key, 'GT', ...due.flatMap((organization) => [now, organization]));
    for (const organization of due) this.#notedAt.set(organization, now);
  }

  #isNoted(organization: string, now: number): boolean {
    const at = this.#notedAt.get(organization) ?? -Infinity;
    return now >= at && now - at < noteMs;
  }
}
