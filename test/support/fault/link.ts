import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * `open`: as it should be. `cut`: resets. `stalled`: nothing gets through until it heals, then
 * everything.
 */
type State = 'open' | 'cut' | 'stalled';

interface Connection {
  near: Socket;
  far: Socket;
  /** Half-open: each side believes that the other is there, and nothing ever gets through again. */
  dead: boolean;
}

/**
 * The network between two processes: a TCP proxy whose cable can be pulled, stretched and squeezed.
 */
export class Link {
  readonly name: string;
  readonly #server: Server;
  readonly #connections = new Set<Connection>();
  #state: State = 'open';
  #delayMs = 0;
  #opened = Promise.withResolvers<void>();

  private constructor(name: string, target: number) {
    this.name = name;
    this.#opened.resolve();
    this.#server = createServer({ noDelay: true, allowHalfOpen: true }, (near) => this.#accept(near, target));
  }

  /** Listens on a free port and leads to the port `target`. */
  static async open(name: string, target: number): Promise<Link> {
    const link = new Link(name, target);
    link.#server.listen(0, '127.0.0.1');
    await once(link.#server, 'listening');
    return link;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Resets every connection, and each new one. */
  cut(): void {
    this.#state = 'cut';
    for (const connection of this.#connections) reset(connection);
  }

  /** Bytes take `ms` longer in each direction. */
  delay(ms: number): void {
    this.#delayMs = ms;
  }

  /** Nothing gets through, nobody is told. What was sent arrives after {@link heal}. */
  stall(): void {
    this.#state = 'stalled';
    this.#opened = Promise.withResolvers<void>();
  }

  /** Every connection there is now stays open and dead for good; new ones work. */
  halfOpen(): void {
    for (const connection of this.#connections) connection.dead = true;
  }

  heal(): void {
    this.#state = 'open';
    this.#delayMs = 0;
    this.#opened.resolve();
  }

  async close(): Promise<void> {
    this.heal();
    for (const connection of this.#connections) reset(connection);
    if (!this.#server.listening) return;
    this.#server.close();
    await once(this.#server, 'close');
  }

  #accept(near: Socket, target: number): void {
    if (this.#state === 'cut') {
      near.resetAndDestroy();
      return;
    }
    const connection = {
      near,
      far: connect({ port: target, host: '127.0.0.1', noDelay: true, allowHalfOpen: true }),
      dead: false,
    };
    this.#connections.add(connection);
    this.#pump(connection, connection.near, connection.far);
    this.#pump(connection, connection.far, connection.near);
  }

  #pump(connection: Connection, from: Socket, to: Socket): void {
    let pending = 0;
    let tail = Promise.resolve();
    const deliver = (write: () => void): void => {
      if (connection.dead) return;
      if (pending === 0 && this.#delayMs === 0 && this.#state === 'open') return write();
      const due = performance.now() + this.#delayMs;
      pending += 1;
      tail = tail.then(async () => {
        await this.#opened.promise;
        await sleep(Math.max(0, due - performance.now()));
        pending -= 1;
        if (!connection.dead && !to.destroyed) write();
      });
    };
    from.on('data', (chunk) =>
      deliver(() => {
        if (to.write(chunk)) return;
        from.pause();
        to.once('drain', () => from.resume());
      }),
    );
    from.on('end', () => deliver(() => to.end()));
    from.on('error', () => deliver(() => to.resetAndDestroy()));
    from.on('close', () => {
      deliver(() => to.destroy());
      if (from.destroyed && to.destroyed) this.#connections.delete(connection);
    });
  }
}

function reset({ near, far }: Connection): void {
  near.resetAndDestroy();
  far.resetAndDestroy();
}
