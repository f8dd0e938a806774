import type { Context } from 'koa';
import { endsConnection } from './connections.ts';
import type { Turns } from './turns.ts';

/**
 * Most bodies that are dropped at once: by a pod, and for one organization. Node holds up to 128
 * KiB of each, even after its sender has gone.
 */
const most = { all: 128, ofOne: 64 };

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
   * Beyond {@link most}, the answer ends the connection instead.
   */
  drop({ req, res }: Context, organization: string): void {
    if (req.readableDidRead || req.complete) return;
    const own = this.#ofOrganizations.get(organization) ?? 0;
    if (own >= most.ofOne || this.#count >= most.all) return endsConnection(res);
    // A broken connection has no use for the answer.
    void this.#readAll(req, organization).catch(() => undefined);
  }

  async #readAll(req: Context['req'], organization: string): Promise<void> {
    const { socket } = req;
    // Once a request is answered, Node does not tell it that its connection has closed.
    const cut = (): void => void req.destroy();
    socket.once('close', cut);
    this.#add(organization, 1);
    try {
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
