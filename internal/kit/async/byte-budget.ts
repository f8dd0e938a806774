/** Frees the memory that is held. Idempotent. */
export type Release = () => void;

interface Waiting {
  bytes: number;
  grant: () => void;
}

/**
 * Bounds the memory that many holders take together. A holder that does not fit waits, in order of
 * arrival, so that a large one does not wait forever. One larger than the whole bound gets all of
 * it, and so runs alone.
 */
export class ByteBudget {
  readonly bytes: number;
  #free: number;
  readonly #waiting = new Set<Waiting>();

  constructor(bytes: number) {
    this.bytes = bytes;
    this.#free = bytes;
  }

  /** Resolves with the release once there is room, or with undefined when aborted earlier. */
  async hold(bytes: number, signal: AbortSignal): Promise<Release | undefined> {
    if (signal.aborted) return undefined;
    const part = Math.min(bytes, this.bytes);
    if (this.#waiting.size > 0 || part > this.#free) {
      if (!(await this.#turn(part, signal))) return undefined;
    } else this.#free -= part;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#free += part;
      this.#grant();
    };
  }

  /** Resolves with true once the bytes are taken, or with false when aborted earlier. */
  #turn(bytes: number, signal: AbortSignal): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const giveUp = (): void => {
      this.#waiting.delete(waiting);
      resolve(false);
      this.#grant();
    };
    const grant = (): void => {
      signal.removeEventListener('abort', giveUp);
      resolve(true);
    };
    const waiting = { bytes, grant };
    this.#waiting.add(waiting);
    signal.addEventListener('abort', giveUp, { once: true });
    return promise;
  }

  #grant(): void {
    for (const waiting of this.#waiting) {
      if (waiting.bytes > this.#free) return;
      this.#waiting.delete(waiting);
      this.#free -= waiting.bytes;
      waiting.grant();
    }
  }
}
