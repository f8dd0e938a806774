import { sendBacklog } from './backlog.ts';
import type { Outgoing, Send, SendMany } from './outgoing.ts';
import type { Spool } from './spool.ts';

export interface OutboxOptions {
  readonly spool: Pick<Spool, 'add' | 'waiting' | 'read' | 'remove' | 'setAside'>;
  readonly send: Send;
  readonly sendMany: SendMany;
  /** Takes the reason why the spool did not take an event. */
  readonly onUnspooled: (reason: unknown) => void;
}

/** An event of this process. */
interface Own {
  readonly event: Outgoing;
  /** Its name in the spool, or undefined if the spool did not take it. */
  readonly spooled: Promise<string | undefined>;
  done: boolean;
}

/** Pauses between attempts while the command runs, in ms. */
const firstPause = 250;
const longestPause = 10_000;

/**
 * Delivers events in the background, in order. Each is in the spool from the start until Runledger
 * has confirmed it. Sends afterwards what earlier runs left there.
 */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #own: Own[] = [];
  readonly #spooledByThis = new Set<string>();
  #delivering: Promise<void> | undefined;
  #ending = false;
  #closed = false;
  #wake: () => void = () => undefined;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** Takes events over. Returns at once. */
  add(...events: Outgoing[]): void {
    for (const event of events) this.#own.push({ event, spooled: this.#spool(event), done: false });
    this.#delivering ??= this.#deliver();
    this.#wake();
  }

  /**
   * Resolves when all is delivered; or when all is in the spool and an attempt has failed; at the
   * latest after `withinMs`. Resolves with false if something is still under way then.
   */
  async settle(withinMs: number): Promise<boolean> {
    this.#ending = true;
    this.#wake();
    const whole = this.#whole().then(() => true);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const deadline = setTimeout(() => resolve(false), withinMs);
    const settled = await Promise.race([whole, promise]);
    clearTimeout(deadline);
    this.#closed = true;
    return settled;
  }

  async #whole(): Promise<void> {
    await this.#delivering;
    await Promise.all(this.#own.map(({ spooled }) => spooled));
  }

  async #spool(event: Outgoing): Promise<string | undefined> {
    try {
      const name = await this.#options.spool.add(event);
      this.#spooledByThis.add(name);
      return name;
    } catch (error) {
      this.#options.onUnspooled(error);
      return undefined;
    }
  }

  async #deliver(): Promise<void> {
    let pause = firstPause;
    while (!this.#closed) {
      const attempt = (await this.#deliverOwn()) && (await this.#deliverLeftovers());
      if (attempt && this.#ending && this.#own.every(({ done }) => done)) return;
      if (!attempt && this.#ending && (await this.#allSpooled())) return;
      await this.#sleep(attempt ? undefined : pause);
      pause = attempt || this.#ending ? firstPause : Math.min(2 * pause, longestPause);
    }
  }

  /** False as soon as an attempt fails. */
  async #deliverOwn(): Promise<boolean> {
    for (let own = this.#next(); own !== undefined && !this.#closed; own = this.#next()) {
      const attempt = await this.#options.send(own.event);
      if (attempt === 'failed') return false;
      own.done = true;
      const name = await own.spooled;
      if (name === undefined) continue;
      await (attempt === 'recorded' ? this.#options.spool.remove(name) : this.#options.spool.setAside(name));
    }
    return true;
  }

  /** Sends what earlier runs left, until an event of this process waits. False if one fails. */
  async #deliverLeftovers(): Promise<boolean> {
    const names = (await this.#options.spool.waiting()).filter((name) => !this.#spooledByThis.has(name));
    const { failed } = await sendBacklog(this.#options, names, () => this.#closed || this.#next() !== undefined);
    return !failed;
  }

  #next(): Own | undefined {
    return this.#own.find(({ done }) => !done);
  }

  async #allSpooled(): Promise<boolean> {
    const names = await Promise.all(this.#own.filter(({ done }) => !done).map(({ spooled }) => spooled));
    return names.every((name) => name !== undefined);
  }

  /** Until something new is to be done, or at most this long. */
  async #sleep(ms: number | undefined): Promise<void> {
    if (ms === undefined && (this.#ending || this.#next() !== undefined)) return;
    await new Promise<void>((resolve) => {
      const timer = ms === undefined ? undefined : setTimeout(resolve, this.#ending ? firstPause : ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
