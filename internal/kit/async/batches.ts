import { BatchScheduler } from './batch-scheduler.ts';

/** Most items of a call. */
const largest = 512;

/** Time between the starts of two calls, in ms, unless all callers wait. */
const intervalMs = 2;

/** A call that takes longer than this, in ms, no longer holds up the next one. */
const slowMs = 20;

interface Waiting<Item, Reply> {
  readonly item: Item;
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: unknown) => void;
}

function ignore(): void {
  // The next attempt finds out by itself.
}

/**
 * Joins items that arrive during a call into the next call. A lone item, or the items of all
 * connected callers, are sent at the end of the current event-loop turn.
 */
export class Batches<Item, Reply> {
  readonly #call: (items: readonly Item[]) => Promise<readonly Reply[]>;
  readonly #callers: { readonly open: number };
  readonly #scheduler = new BatchScheduler(() => this.#begin(), intervalMs);
  #waiting: Waiting<Item, Reply>[] = [];
  /** Items that a caller waits for. */
  #awaited = 0;
  #isBusy = false;
  /** The calls under way. */
  readonly #calls = new Set<Promise<void>>();

  /**
   * @param call resolves with a reply for each item, in order.
   * @param callers a live counter of open connections.
   */
  constructor(call: (items: readonly Item[]) => Promise<readonly Reply[]>, callers: { readonly open: number }) {
    this.#call = call;
    this.#callers = callers;
  }

  /** Resolves with the reply to the item, or rejects with the error of its call. */
  ask(item: Item): Promise<Reply> {
    return new Promise((resolve, reject) => {
      this.#awaited += 1;
      this.#add({ item, resolve, reject });
    });
  }

  /** As {@link ask}, for an item whose reply nobody needs. It holds up no call. */
  post(item: Item): void {
    this.#add({ item, resolve: ignore, reject: ignore });
  }

  /** Resolves when nothing waits and no call is under way. */
  async drained(): Promise<void> {
    while (this.#waiting.length > 0 || this.#calls.size > 0) {
      if (this.#calls.size === 0) this.#begin();
      await Promise.all(this.#calls);
    }
  }

  #add(waiting: Waiting<Item, Reply>): void {
    this.#waiting.push(waiting);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isBusy || this.#waiting.length === 0) return;
    this.#scheduler.schedule(this.#awaited === 0 || this.#awaited >= this.#callers.open);
  }

  #begin(): void {
    if (this.#waiting.length === 0) return;
    const call = this.#run().finally(() => this.#calls.delete(call));
    this.#calls.add(call);
  }

  async #run(): Promise<void> {
    // Items that nobody waits for hold up nothing.
    this.#isBusy = this.#awaited > 0;
    this.#scheduler.begun();
    const batch = this.#waiting.splice(0, largest);
    this.#awaited = this.#waiting.length;
    const timer = setTimeout(() => this.#next(), slowMs);
    try {
      const replies = await this.#call(batch.map(({ item }) => item));
      for (const [at, { resolve }] of batch.entries()) resolve(replies[at] as Reply);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      clearTimeout(timer);
      this.#next();
    }
  }

  #next(): void {
    this.#isBusy = false;
    this.#schedule();
  }
}
