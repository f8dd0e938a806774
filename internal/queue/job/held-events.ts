import type { AcceptedEvent } from '../../event/event.ts';
import { BufferFull, type GroupCommitLimits } from '../group-commit.ts';

/** The share of the buffer that one organization may fill, so that others find room. */
const organizationShare = 0.75;

/** How long others that send events again and again count as present, in ms. */
const recentMs = 100;

/** Events of an organization, and the memory that they take, in bytes. */
export interface Held {
  events: number;
  bytes: number;
}

/**
 * Counts the events that a producer holds for waiting callers: for their keys, a commit or its
 * acknowledgement. Bounds their bytes, and each organization's share.
 */
export class HeldEvents {
  readonly #mostBytes: number;
  readonly #share: Held;
  readonly #ofOrganizations = new Map<string, Held & { othersAt: number }>();
  #bytes = 0;

  constructor({ bufferedEvents, bufferedBytes }: Pick<GroupCommitLimits, 'bufferedEvents' | 'bufferedBytes'>) {
    this.#mostBytes = bufferedBytes;
    this.#share = { events: bufferedEvents * organizationShare, bytes: bufferedBytes * organizationShare };
  }

  /**
   * Counts events of one organization, and returns what {@link release} needs. A lone request
   * always fits, or every retry of it would fail.
   * @throws {BufferFull}
   */
  take(events: readonly AcceptedEvent[], bytes: number): Held {
    const own = this.#of(events[0]?.organization ?? '');
    const count = events.length;
    if (this.#bytes > 0 && this.#bytes + bytes > this.#mostBytes) throw new BufferFull();
    if (own.events > 0 && (own.events + count > this.#share.events || own.bytes + bytes > this.#share.bytes)) {
      throw new BufferFull();
    }
    this.#add(own, count, bytes);
    return own;
  }

  /**
   * True if events of other organizations are held, or were at one of the questions in the last
   * {@link recentMs}.
   */
  hasOthers(organization: string): boolean {
    const own = this.#of(organization);
    const now = performance.now();
    if (this.#bytes > own.bytes) own.othersAt = now;
    return now - own.othersAt < recentMs;
  }

  /** Undoes {@link take}. */
  release(own: Held, events: readonly AcceptedEvent[], bytes: number): void {
    this.#add(own, -events.length, -bytes);
  }

  #add(own: Held, events: number, bytes: number): void {
    own.events += events;
    own.bytes += bytes;
    this.#bytes += bytes;
  }

  #of(organization: string): Held & { othersAt: number } {
    const known = this.#ofOrganizations.get(organization);
    if (known !== undefined) return known;
    const none = { events: 0, bytes: 0, othersAt: -Infinity };
    this.#ofOrganizations.set(organization, none);
    return none;
  }
}
