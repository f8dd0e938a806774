import { within } from '../../kit/async/within.ts';
import { isRefused, withIdentities, type Keyed, type Keys, type Reservation, type Result } from './idempotency.ts';

/** Longest wait for one of the two, in ms, before the other one counts alone. */
export const placeReplyMs = 500;

/** What the first has reserved, and what holds now. */
interface Repair {
  before: { result: Reservation; keyed: Keyed };
  result: Result | undefined;
  /** True if the events of the request are not enqueued. */
  release: boolean;
}

/**
 * Idempotency keys in two places, so that a key is known while one of them is unavailable. The
 * first gives the identity of an event. The second keeps a copy, made before the commit. When both
 * answer, the second decides: its identity differs only if it gave one while the first was away.
 */
export class MirroredKeys implements Keys {
  readonly #first: Keys;
  readonly #second: Keys;
  readonly #replyMs: number;

  constructor(first: Keys, second: Keys, replyMs = placeReplyMs) {
    this.#first = first;
    this.#second = second;
    this.#replyMs = replyMs;
  }

  /** Rejects when both are unavailable. */
  async reserve(keyed: readonly Keyed[], which: 'all' | 'each'): Promise<Result[]> {
    const first = await within(this.#replyMs, this.#first.reserve(keyed, which)).catch(() => undefined);
    if (first === undefined) return this.#second.reserve(keyed, which);
    if (which === 'all' && first.some(isRefused)) return first;
    const reserved = keyed.flatMap((each, index) => {
      const result = first[index];
      return result === undefined || isRefused(result) ? [] : [{ index, result, keyed: withIdentity(each, result) }];
    });
    if (reserved.length === 0) return first;
    const copies = reserved.map((each) => each.keyed);
    const second = await within(this.#replyMs, this.#second.reserve(copies, which)).catch(() => undefined);
    if (second === undefined) return first;
    const results = [...first];
    for (const [position, { index, result }] of reserved.entries()) results[index] = merged(result, second[position]);
    const release = which === 'all' && results.some(isRefused);
    await this.#repairFirst(reserved.map((each) => ({ before: each, result: results[each.index], release })));
    return results;
  }

  async look(keyed: readonly Keyed[]): Promise<Result[]> {
    return within(this.#replyMs, this.#first.look(keyed)).catch(() => this.#second.look(keyed));
  }

  async markCommitted(keyed: readonly Keyed[]): Promise<void> {
    await Promise.allSettled([this.#first.markCommitted(keyed), this.#second.markCommitted(keyed)]);
  }

  async release(keyed: readonly Keyed[]): Promise<void> {
    await Promise.allSettled([this.#first.release(keyed), this.#second.release(keyed)]);
  }

  async replaceIdentity(keyed: readonly Keyed[]): Promise<void> {
    await Promise.allSettled([this.#first.replaceIdentity(keyed), this.#second.replaceIdentity(keyed)]);
  }

  /**
   * Takes over what the second decided while the first was away, and releases keys that it refused.
   */
  async #repairFirst(all: readonly Repair[]): Promise<void> {
    const refused: Keyed[] = [];
    const changed: Keyed[] = [];
    const committed: Keyed[] = [];
    for (const { before, result, release } of all) {
      if (result === undefined) continue;
      if (release || isRefused(result)) {
        refused.push(before.keyed);
        continue;
      }
      const keyed = withIdentity(before.keyed, result);
      if (result.identities[0]?.id !== before.result.identities[0]?.id) changed.push(keyed);
      if (result.committed && !before.result.committed) committed.push(keyed);
    }
    const repair = async (): Promise<void> => {
      if (changed.length > 0) await this.#first.replaceIdentity(changed);
      if (committed.length > 0) await this.#first.markCommitted(committed);
      if (refused.length > 0) await this.#first.release(refused);
    };
    await within(this.#replyMs, repair()).catch(() => undefined);
  }
}

/** The second decides, unless only the first knows a commit: its caller has that identity. */
function merged(first: Reservation, second: Result = first): Result {
  const known = !isRefused(second) && second.committed;
  return first.committed && !known ? first : second;
}

function withIdentity({ key, events }: Keyed, { identities }: Reservation): Keyed {
  return { key, events: withIdentities(events, identities) };
}
