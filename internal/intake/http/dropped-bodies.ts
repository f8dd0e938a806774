import type { Context } from 'koa';
import { setTimeout as sleep } from 'node:timers/promises';
import { endsConnection } from './connections.ts';
import type { Turns } from './turns.ts';

/**
 * Most bodies that are dropped at once: by a pod, and for one organization. Node holds up to 128
 * KiB of each, even after its sender has gone.
 */
const most = { all: 128, ofOne: 64 };

/** A refused body of more bytes, or without a length, waits before it is dropped. */
const large = 65_536;

/**
 * Mean of that wait, in ms; random. A sender that tries again at once would fill the buffers of the
 * kernel each time, which takes a core from the others.
 */
const waitMs = 1_000;

/** Reads and drops the bodies of refused requests, so that their senders see the answer. */
export class DroppedBodies {
  readonly #turns: Turns;
  /** Records the bytes of a piece. */
  readonly #received: (bytes: number) => void;
  readonly #ofOrganizations = new Map<string, number>();
  #count = 0;

  constructor(turns: Turns, received: (bytes: number) => void) {
    this.#turns = turns;
    this.#received = received;
  }

  /**
   * Drops a body that nobody has read; in turns, because Node would read it as fast as it comes.
   * Beyond {@link most}, the answer ends the connection instead. Resolves when the answer is due.
   */
  drop({ req, res }: Context, organization: string): Promise<void> | undefined {
    if (req.readableDidRead || req.complete) return undefined;
    const own = this.#ofOrganizations.get(organization) ?? 0;
    if (own >= most.ofOne || this.#count >= most.all) {
      endsConnection(res);
      return undefined;
    }
    this.#add(organization, 1);
    const isLarge = !(Number(req.headers['content-length']) <= large);
    const wait = isLarge ? sleep(waitMs * (0.5 + Math.random())) : undefined;
    // A broken connection has no use for the answer.
    void this.#readAll(req, organization, wait).catch(() => undefined);
    return wait;
  }

  async #readAll(req: Context['req'], organization: string, wait: Promise<void> | undefined): Promise<void> {
    const { socket } = req;
    // Once a request is answered, Node does not tell it that its connection has closed.
    const cut = (): void => void req.destroy();
    socket.once('close', cut);
    try {
      await wait;
      for await (const piece of req as AsyncIterable<Buffer>) {
        this.#received(piece.length);
        await this.#turns.run(organization, () => undefined);
      }
    } finally {
      this.#add(organization, -1);
      socket.off('close', cut);
    }
  }

  #add(organization: string, bodies: number): void {
    const own = (this.#ofOrganizations.get(organization) ?? 0) + bodies;
    if (own > 0) this.#ofOrganizations.set(organization, own);
    else this.#ofOrganizations.delete(organization);
    this.#count += bodies;
  }
}
