import { RequestError, unavailable } from '../kit/errors/request-error.ts';
import { SharedRoom, type NoRoom, type RoomSize } from './shared-room.ts';

const mebi = 1_024 * 1_024;

/** Most memory of reads under way and of their answers until these are sent. */
const roomOfReads: RoomSize = { all: 80 * mebi, ofOne: 40 * mebi };

/**
 * About what a read may take until its answer is made: with texts of events (a page as Postgres
 * sends it, as V8 holds it and as the answer has it), or without.
 */
export const readBytes = { texts: 12 * mebi, others: 3 * mebi } as const;

/** Most reads of one organization that wait for room, and how long each waits, in ms. */
const mostWaiting = 100;
const longestWaitMs = 5_000;

/** The share of the room that one read has. */
export interface Part {
  /** Sets its bytes to the size of the answer. */
  resize(bytes: number): void;
  /** Gives the share back; safe to repeat. */
  end(): void;
}

interface Waiting {
  bytes: number;
  admit: () => void;
}

/**
 * Room in memory for the reads of a console. A read that finds none waits. Organizations take
 * turns, so that the reads of one never block those of another.
 */
export class ReadRoom {
  readonly #room: SharedRoom;
  /** By organization; the one whose turn is next comes first. */
  readonly #waiting = new Map<string, Waiting[]>();

  constructor(size = roomOfReads) {
    this.#room = new SharedRoom(size);
  }

  /**
   * @param withinMs how long it may wait; `Infinity` for no limit.
   * @throws {RequestError} `too-many-requests`, or `unavailable` when others have the room.
   */
  async enter(organization: string, bytes: number, withinMs = longestWaitMs): Promise<Part> {
    const waits = this.#waiting.get(organization)?.length ?? 0;
    if (waits >= mostWaiting) throw refusal('own');
    if (waits > 0 || this.#room.lacks(organization, bytes) !== undefined)
      await this.#wait(organization, bytes, withinMs);
    else this.#room.add(organization, bytes);
    return this.#partOf(organization, bytes);
  }

  /** Runs work whose result does not stay in memory for long. */
  async run<T>(organization: string, bytes: number, work: () => Promise<T>): Promise<T> {
    const part = await this.enter(organization, bytes);
    return work().finally(() => part.end());
  }

  #wait(organization: string, bytes: number, withinMs: number): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const queue = this.#waiting.get(organization) ?? [];
    this.#waiting.set(organization, queue);
    const giveUp = (): void => {
      queue.splice(queue.indexOf(waiting), 1);
      if (queue.length === 0) this.#waiting.delete(organization);
      reject(refusal(this.#room.lacks(organization, bytes) ?? 'own'));
    };
    const timer = withinMs === Infinity ? undefined : setTimeout(giveUp, withinMs).unref();
    const waiting = {
      bytes,
      admit: () => {
        clearTimeout(timer);
        resolve();
      },
    };
    queue.push(waiting);
    return promise;
  }

  #partOf(organization: string, bytes: number): Part {
    let held = bytes;
    const resize = (to: number): void => {
      this.#room.add(organization, to - held);
      held = to;
      this.#admit();
    };
    let ended = false;
    return {
      resize: (to) => {
        if (!ended) resize(to);
      },
      end: () => {
        if (!ended) resize(0);
        ended = true;
      },
    };
  }

  /** Admits the reads that fit now; organizations take turns. */
  #admit(): void {
    while (this.#admitNext());
  }

  #admitNext(): boolean {
    for (const [organization, queue] of this.#waiting) {
      const [first] = queue;
      if (first === undefined) continue;
      const lack = this.#room.lacks(organization, first.bytes);
      // The next one may need less, but a large read must have its turn too.
      if (lack === 'all') return false;
      if (lack === 'own') continue;
      queue.shift();
      this.#waiting.delete(organization);
      if (queue.length > 0) this.#waiting.set(organization, queue);
      this.#room.add(organization, first.bytes);
      first.admit();
      return true;
    }
    return false;
  }
}

function refusal(lack: NoRoom): RequestError {
  if (lack === 'all') return unavailable('Too many large answers are under way at once.');
  return new RequestError('too-many-requests', 'The organization reads too much at once: wait for its answers.');
}
