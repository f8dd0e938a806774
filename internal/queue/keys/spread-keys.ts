import { within } from '../../kit/async/within.ts';
import { isRefused, type Keyed, type Keys, type Result } from './idempotency.ts';

/** Longest wait for the release of keys that cannot be used, in ms. */
const releaseMs = 500;

/** The keys of a request that are in one place, and their positions in the request. */
interface Group {
  keys: Keys;
  keyed: Keyed[];
  positions: number[];
}

/**
 * Idempotency keys in many places. One script cannot reserve keys of several places. So a request
 * of all or none looks at all of its keys before it reserves the first.
 */
export class SpreadKeys implements Keys {
  readonly #placeOf: (keyed: Keyed) => Keys;

  /** @param placeOf the same for each event with the key. */
  constructor(placeOf: (keyed: Keyed) => Keys) {
    this.#placeOf = placeOf;
  }

  async reserve(keyed: readonly Keyed[], which: 'all' | 'each'): Promise<Result[]> {
    const groups = this.#groupsOf(keyed);
    if (groups.length > 1 && which === 'all') {
      const found = await look(groups);
      if (found.some(isRefused)) return found;
    }
    const settled = await Promise.allSettled(groups.map((group) => group.keys.reserve(group.keyed, which)));
    const failed = settled.find((each) => each.status === 'rejected');
    const replies = settled.map((each) => (each.status === 'fulfilled' ? each.value : []));
    const refused = which === 'all' && replies.flat().some(isRefused);
    if (groups.length > 1 && (failed !== undefined || refused)) {
      const release = groups.map(async (group, index) => {
        const reserved = reservedOf(group, replies[index] ?? [], which);
        if (reserved.length > 0) await group.keys.release(reserved);
      });
      await within(releaseMs, Promise.all(release)).catch(() => undefined);
    }
    if (failed !== undefined) throw failed.reason;
    return inOrder(groups, replies);
  }

  async look(keyed: readonly Keyed[]): Promise<Result[]> {
    return look(this.#groupsOf(keyed));
  }

  async markCommitted(keyed: readonly Keyed[]): Promise<void> {
    await Promise.all(this.#groupsOf(keyed).map((group) => group.keys.markCommitted(group.keyed)));
  }

  async release(keyed: readonly Keyed[]): Promise<void> {
    await Promise.all(this.#groupsOf(keyed).map((group) => group.keys.release(group.keyed)));
  }

  async replaceIdentity(keyed: readonly Keyed[]): Promise<void> {
    await Promise.all(this.#groupsOf(keyed).map((group) => group.keys.replaceIdentity(group.keyed)));
  }

  #groupsOf(keyed: readonly Keyed[]): Group[] {
    const groups = new Map<Keys, Group>();
    for (const [position, each] of keyed.entries()) {
      const keys = this.#placeOf(each);
      const group = groups.get(keys) ?? { keys, keyed: [], positions: [] };
      groups.set(keys, group);
      group.keyed.push(each);
      group.positions.push(position);
    }
    return [...groups.values()];
  }
}

/** A group with a refused key has reserved the others, or with `all` none. */
function reservedOf({ keyed }: Group, replies: readonly Result[], which: 'all' | 'each'): Keyed[] {
  if (which === 'all' && replies.some(isRefused)) return [];
  return keyed.filter((_, place) => replies[place] !== undefined && !isRefused(replies[place]));
}

async function look(groups: readonly Group[]): Promise<Result[]> {
  return inOrder(groups, await Promise.all(groups.map((group) => group.keys.look(group.keyed))));
}

/** The results in the order of the request. */
function inOrder(groups: readonly Group[], replies: readonly (readonly Result[])[]): Result[] {
  const results: Result[] = [];
  for (const [index, { positions }] of groups.entries()) {
    for (const [place, position] of positions.entries()) {
      const result = replies[index]?.[place];
      if (result !== undefined) results[position] = result;
    }
  }
  return results;
}
