/** Memory that is held, until this is called. Safe twice. */
export type Release = () => void;

interface Waiting {
  bytes: number;
  grant: () => void;
}

/**
 * Bounds the memory that many holders take together. Who does not fit waits, in the order of
 * arrival, so that nobody large waits for ever. Who is larger than the whole bound gets all of it,
 * and so is alone.
 */
export class ByteBudget {
  readonly bytes: number;
  #free: number;
  readonly #waiting = new Set<Waiting>();

  constructor(bytes: number) {
    this.bytes = bytes;
    this.#free = bytes;
  }

  /** Resolves with the release once there is room; with undefined when aborted before. */
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

  /** Resolves with true once the bytes are taken; with false when aborted before. */
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
