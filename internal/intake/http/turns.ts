/** Duration of one slice, and of all short work in a turn while more is waiting, in ms. */
const sliceMs = 1;

/** How long large bodies rest after a slice while others send events, in ms. */
const restMs = 4;

/** How often the end of that rest is looked for, in ms. */
const lookMs = 1;

export interface TurnsOptions {
  /** True while other organizations send events. */
  othersSend?: ((organization: string) => boolean) | undefined;
  /** A monotonic clock, in ms. */
  now?: () => number;
}

/** Work of an organization that waits for its turn. `isShort`: shares the turn with others. */
interface Waiting {
  work: () => void;
  isShort: boolean;
}

/**
 * Gives large bodies short slices of the event loop: one per loop turn, to each organization in
 * rotation. Small bodies pass in between. While others send events, large bodies get a fifth of the
 * time: a saturated loop delays each of the turns that an answer takes, and the garbage of large
 * bodies is collected in pauses of 20 ms. Short work shares a turn, or concurrent bulk requests
 * would not become one commit.
 */
export class Turns {
  /** The first organization is next. */
  readonly #waiting = new Map<string, Waiting[]>();
  readonly #othersSend: (organization: string) => boolean;
  readonly #now: () => number;
  #scheduled = false;
  #restsUntil = -Infinity;

  constructor({ othersSend = () => false, now = () => performance.now() }: TurnsOptions = {}) {
    this.#othersSend = othersSend;
    this.#now = now;
  }

  /** Resolves with the result of `work`, which runs in the organization's next turn. */
  run<T>(organization: string, work: () => T, isShort = false): Promise<T> {
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        try {
          resolve(work());
        } catch (error) {
          reject(error);
        }
      };
      const waiting = { work: settle, isShort };
      const own = this.#waiting.get(organization);
      if (own === undefined) this.#waiting.set(organization, [waiting]);
      else own.push(waiting);
      this.#schedule(0);
    });
  }

  /** Runs short steps in as many turns as they need. Resolves with the result of the last. */
  async runAll<T>(organization: string, steps: Iterator<unknown, T>): Promise<T> {
    for (;;) {
      const last = await this.run(organization, () => takeSteps(steps));
      if (last.done === true) return last.value;
    }
  }

  /** Runs `map` for each item, in as many turns as it needs. */
  map<A, B>(organization: string, items: readonly A[], map: (item: A, index: number) => B): Promise<B[]> {
    return this.runAll(organization, mapping(items, map));
  }

  #schedule(afterMs: number): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    if (afterMs > 0) setTimeout(() => this.#grant(), afterMs);
    else setImmediate(() => this.#grant());
  }

  #grant(): void {
    this.#scheduled = false;
    const begun = this.#now();
    let ran: Waiting | undefined;
    let now = begun;
    do {
      ran = this.#takeNext(now);
      ran?.work();
      now = this.#now();
    } while (ran?.isShort === true && this.#waiting.size > 0 && now - begun < sliceMs);
    if (ran?.isShort === false) this.#restsUntil = now + restMs;
    if (this.#waiting.size === 0) return;
    // Indivisible work leaves the loop to others for as long as it took.
    const took = now - begun;
    this.#schedule(ran === undefined ? lookMs : took > 2 * sliceMs ? took : 0);
  }

  /** Takes the work of the next organization whose work need not rest. */
  #takeNext(now: number): Waiting | undefined {
    for (const [organization, own] of this.#waiting) {
      if (own[0]?.isShort !== true && now < this.#restsUntil && this.#othersSend(organization)) continue;
      this.#waiting.delete(organization);
      const taken = own.shift();
      if (own.length > 0) this.#waiting.set(organization, own);
      return taken;
    }
    return undefined;
  }
}

/** Runs all steps now. */
export function runAtOnce<T>(steps: Iterator<unknown, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Takes at least one step, and more while there is time. */
function takeSteps<T>(steps: Iterator<unknown, T>): IteratorResult<unknown, T> {
  const until = performance.now() + sliceMs;
  let step = steps.next();
  while (step.done !== true && performance.now() < until) step = steps.next();
  return step;
}

function* mapping<A, B>(items: readonly A[], map: (item: A, index: number) => B): Generator<undefined, B[]> {
  const mapped: B[] = [];
  for (const [index, item] of items.entries()) {
    mapped.push(map(item, index));
    yield;
  }
  return mapped;
}
