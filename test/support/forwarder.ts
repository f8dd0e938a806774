import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { resetSocket } from './reset-socket.ts';

interface Connection {
  near: Socket;
  far: Socket;
  /** Half-open: each side believes that the other is there, and nothing gets through again. */
  dead: boolean;
}

/** Forwards TCP connections to a port of 127.0.0.1. Tests cut, delay and silence them. */
export class Forwarder implements AsyncDisposable {
  /** The port that new connections lead to. Those that are open stay where they are. */
  target: number;
  /** Connections accepted so far. */
  accepted = 0;
  readonly #server: Server;
  readonly #connections = new Set<Connection>();
  #cut = false;
  #delayMs = 0;
  /** Pending while nothing gets through. */
  #stalled: PromiseWithResolvers<void> | undefined;
  #limit: { bytes: number; reached: () => void } | undefined;

  private constructor(target: number) {
    this.target = target;
    this.#server = createServer({ noDelay: true, allowHalfOpen: true }, (near) => this.#accept(near));
  }

  /** Listens on a free port. */
  static async start(target: number): Promise<Forwarder> {
    const forwarder = new Forwarder(target);
    forwarder.#server.listen(0, '127.0.0.1');
    await once(forwarder.#server, 'listening');
    return forwarder;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Resets every open connection. */
  reset(): void {
    for (const connection of this.#connections) resetBoth(connection);
  }

  /** Resets every open connection, and each new one until {@link heal}. */
  cut(): void {
    this.#cut = true;
    this.reset();
  }

  /** Bytes take `ms` longer in each direction, until {@link heal}. */
  delay(ms: number): void {
    this.#delayMs = ms;
  }

  /** Nothing gets through and nobody notices. All bytes arrive after {@link heal}. */
  stall(): void {
    this.#stalled ??= Promise.withResolvers<void>();
  }

  /** Every open connection stays open and carries nothing again. New ones work. */
  halfOpen(): void {
    for (const connection of this.#connections) connection.dead = true;
  }

  /**
   * Resolves once the server has sent this many bytes on one connection; that connection carries
   * nothing again.
   */
  stalledAfter(bytes: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#limit = { bytes, reached: resolve };
    return promise;
  }

  /** Ends every fault but {@link halfOpen}. */
  heal(): void {
    this.#cut = false;
    this.#delayMs = 0;
    this.#stalled?.resolve();
    this.#stalled = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.heal();
    this.reset();
    if (!this.#server.listening) return;
    this.#server.close();
    await once(this.#server, 'close');
  }

  #accept(near: Socket): void {
    this.accepted += 1;
    near.on('error', () => undefined);
    if (this.#cut) {
      resetSocket(near);
      return;
    }
    const far = connect({
      port: this.target,
      host: '127.0.0.1',
      noDelay: true,
      allowHalfOpen: true,
    });
    const connection = { near, far, dead: false };
    this.#connections.add(connection);
    this.#pump(connection, near, far);
    this.#pump(connection, far, near);
    far.on('data', () => this.#checkLimit(connection));
  }

  #checkLimit(connection: Connection): void {
    if (this.#limit === undefined || connection.far.bytesRead <= this.#limit.bytes) return;
    connection.dead = true;
    this.#limit.reached();
    this.#limit = undefined;
  }

  #pump(connection: Connection, from: Socket, to: Socket): void {
    let pending = 0;
    let tail = Promise.resolve();
    const deliver = (write: () => void): void => {
      if (connection.dead) return;
      if (pending === 0 && this.#delayMs === 0 && this.#stalled === undefined) return write();
      const due = performance.now() + this.#delayMs;
      pending += 1;
      tail = tail.then(async () => {
        await this.#stalled?.promise;
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
    from.on('error', () => deliver(() => resetBoth(connection)));
    from.on('close', () => {
      deliver(() => to.destroy());
      if (from.destroyed && to.destroyed) this.#connections.delete(connection);
    });
  }
}

/** Resets both ends: what happens to the one has no effect on the other then. */
function resetBoth(connection: Connection): void {
  connection.dead = true;
  resetSocket(connection.near);
  resetSocket(connection.far);
}
