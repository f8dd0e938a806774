import { holdsBetween, holdsId, leafOfErasure, type Erasure } from '../../ledger/erasure.ts';
import { timeOfId } from '../../ledger/leaf.ts';
import type { ErasureNote, Finding } from './finding.ts';

/** Finds the leaf of an erasure in the log. */
export type FindErasureLeaf = (id: string) => Promise<Buffer | undefined>;

/**
 * The erasures that the log has. Their events may be absent or without texts. A record outside the
 * log excuses nothing: whoever removed events could have written it.
 */
export class Erased {
  readonly notes: ErasureNote[] = [];
  readonly findings: Finding[] = [];
  /** Why absent events and texts accuse nobody: records of erasures are missing. */
  readonly incomplete: string | undefined;
  readonly #erasures: Erasure[] = [];
  readonly #ids = new Set<string>();

  constructor(incomplete?: string) {
    this.incomplete = incomplete;
  }

  /** Adds the record of an erasure if its leaf matches the log. */
  async add(erasure: Erasure, find: FindErasureLeaf): Promise<void> {
    const { id, erased_at: at, erased_by: by, reason, event_ids } = erasure;
    const leaf = await find(id);
    this.#ids.add(id);
    if (leaf === undefined || !leaf.equals(leafOfErasure(erasure))) {
      const fault = leaf === undefined ? 'is not in the log: it was added' : 'is not the one that the log has';
      this.findings.push({ sentence: `The record of erasure ${id} by ${by} ${fault}.` });
      return;
    }
    if (timeOfId(id) !== at.getTime()) {
      this.findings.push({ sentence: `The record of erasure ${id} by ${by} has another time than its id.` });
      return;
    }
    this.#erasures.push(erasure);
    this.notes.push({ at, by, reason, events: event_ids.length / 16 });
  }

  /** The finding about the leaf of an erasure whose record is missing. */
  lost(id: string): Finding[] {
    return this.#ids.has(id) ? [] : [{ sentence: `Erasure ${id} is in the log, and its record is missing.` }];
  }

  /** True if an erasure removed this event. */
  isErased(id: string): boolean {
    return this.erasureOf(id) !== undefined;
  }

  /** True if this event lost its texts to an erasure. */
  lostTexts(id: string): boolean {
    return this.#erasures.some(({ scope, event_ids }) => scope === 'text' && holdsId(event_ids, id));
  }

  /** The erasure that removed this event. */
  erasureOf(id: string): string | undefined {
    return this.#erasures.find(({ scope, event_ids }) => scope !== 'text' && holdsId(event_ids, id))?.id;
  }

  /** True if an erasure names an event with an id from `first` to `last`. */
  namesAny(first: string, last: string): boolean {
    return this.#erasures.some(({ event_ids }) => holdsBetween(event_ids, first, last));
  }
}
