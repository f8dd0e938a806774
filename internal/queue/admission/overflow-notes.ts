import { queueKey } from '../keys/keys.ts';
import type { RedisClient } from '../redis.ts';

/** Least time between two notes about an organization, in ms. */
const noteMs = 1_000;

/**
 * Notes in Redis which organizations have events in the overflow lane. So the controller knows
 * whose record is incomplete (`queue-clock.ts`).
 */
export class OverflowNotes {
  readonly #redis: RedisClient;
  readonly #key: string;
  /** The time of the last note, by organization. */
  readonly #notedAt = new Map<string, number>();

  constructor(redis: RedisClient, queueName: string) {
    this.#redis = redis;
    this.#key = queueKey(queueName, 'overflowing');
  }

  /**
   * Resolves once Redis has the notes. Add the job with the events after that, with a timestamp of
   * the same clock.
   */
  async note(organizations: Iterable<string>): Promise<void> {
    const now = Date.now();
    const due = [...new Set(organizations)].filter((each) => !this.#isNoted(each, now));
    if (due.length === 0) return;
    // GT: a pod whose clock is behind cannot take back a note.
    await this.#redis.zadd(this.#key, 'GT', ...due.flatMap((organization) => [now, organization]));
    for (const organization of due) this.#notedAt.set(organization, now);
  }

  #isNoted(organization: string, now: number): boolean {
    const at = this.#notedAt.get(organization) ?? -Infinity;
    return now >= at && now - at < noteMs;
  }
}
