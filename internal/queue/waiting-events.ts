import type { AcceptedEvent } from '../event/event.ts';

/** Bounds of a batch, and of all that waits, in events and bytes (UTF-16 units, near enough). */
export interface WaitingLimits {
  batchEvents: number;
  batchBytes: number;
  bufferedEvents: number;
  bufferedBytes: number;
}

/** An event that waits for its commit, since when (`performance.now`), and who waits with it. */
export interface WaitingEvent {
  event: AcceptedEvent;
  bytes: number;
  since: number;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/** What waits for a commit, in the order it came. */
export class WaitingEvents {
  readonly #limits: WaitingLimits;
  #events: WaitingEvent[] = [];
  #bytes = 0;

  constructor(limits: WaitingLimits) {
    this.#limits = limits;
  }

  get length(): number {
    return this.#events.length;
  }

  /** True when one commit cannot take more. */
  get fillsBatch(): boolean {
    return this.#events.length >= this.#limits.batchEvents || this.#bytes >= this.#limits.batchBytes;
  }

  /** Resolves or rejects as the taker says. Undefined when there is no room. */
  add(event: AcceptedEvent): Promise<void> | undefined {
    const { bufferedEvents, bufferedBytes } = this.#limits;
    const bytes = sizeOf(event);
    if (this.#events.length >= bufferedEvents || this.#bytes + bytes > bufferedBytes) return undefined;
    return new Promise((resolve, reject) => {
      this.#events.push({ event, bytes, since: performance.now(), resolve, reject });
      this.#bytes += bytes;
    });
  }

  /** As many as one commit may hold, and at least one. */
  takeBatch(): WaitingEvent[] {
    let bytes = 0;
    const tooMuch = this.#events.findIndex((waiting, index) => {
      bytes += waiting.bytes;
      return index > 0 && (index >= this.#limits.batchEvents || bytes > this.#limits.batchBytes);
    });
    return this.#take(tooMuch === -1 ? this.#events.length : tooMuch);
  }

  takeAll(): WaitingEvent[] {
    return this.#take(this.#events.length);
  }

  #take(count: number): WaitingEvent[] {
    const taken = this.#events.splice(0, count);
    for (const { bytes } of taken) this.#bytes -= bytes;
    return taken;
  }
}

/** Fixed fields of an event take about 150 bytes of JSON; texts take their length. */
function sizeOf(event: AcceptedEvent): number {
  return (
    150 + event.executionId.length + event.description.length + event.errorId.length + event.errorDescription.length
  );
}
