/** Most items of a call. */
const largest = 512;

/** A call that takes longer, in ms, no longer holds up the next one. */
const slowMs = 20;

interface Waiting<Item, Reply> {
  readonly item: Item;
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Joins the items that are asked for during a call into the next call. A lone item goes at the end
 * of the current event-loop turn.
 */
export class Batches<Item, Reply> {
  readonly #call: (items: readonly Item[]) => Promise<readonly Reply[]>;
  #waiting: Waiting<Item, Reply>[] = [];
  #isBusy = false;
  #soon: NodeJS.Immediate | undefined;

  /** @param call resolves with a reply for each item, in order. */
  constructor(call: (items: readonly Item[]) => Promise<readonly Reply[]>) {
    this.#call = call;
  }

  /** Resolves with the reply to the item, or rejects with the error of its call. */
  ask(item: Item): Promise<Reply> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isBusy || this.#waiting.length === 0) return;
    this.#soon ??= setImmediate(() => void this.#run());
  }

  async #run(): Promise<void> {
    this.#soon = undefined;
    this.#isBusy = true;
    const batch = this.#waiting.splice(0, largest);
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
