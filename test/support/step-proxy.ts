import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { resetSocket } from './reset-socket.ts';

interface Stop {
  text: string;
  /** How often the text goes by before. */
  left: number;
  side: 'before' | 'after';
  act: () => Promise<void>;
  reached: () => void;
  /** An answer may come in several pieces. */
  hasBegun: boolean;
}

/** Between an ingest and its Redis. Stops at one message of their protocol. */
export class StepProxy implements AsyncDisposable {
  readonly #target: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #stop: Stop | undefined;
  #cut = false;

  private constructor(target: number) {
    this.#target = target;
    this.#server = createServer({ noDelay: true }, (near) => this.#accept(near));
  }

  static async start(target: number): Promise<StepProxy> {
    const proxy = new StepProxy(target);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /**
   * Stops at a message to Redis that has the text, when it has gone by `nth` times: before Redis
   * has it, or after Redis has answered and before the answer arrives. Then `act` runs and all
   * connections end. Resolves once that has happened.
   */
  stopAt(text: string, nth: number, side: 'before' | 'after', act: () => Promise<void>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#stop = { text, left: nth, side, act, reached: resolve, hasBegun: false };
    return promise;
  }

  /** Ends all connections and accepts no other: for Redis, the ingest is dead. */
  cut(): void {
    this.#cut = true;
    for (const socket of this.#sockets) resetSocket(socket);
  }

  /** Accepts connections again, so that the ingest stops in time. */
  heal(): void {
    this.#cut = false;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #accept(near: Socket): void {
    const far = connect({ port: this.#target, host: '127.0.0.1', noDelay: true });
    let stopped: Stop | undefined;
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
    }
    if (this.#cut) return resetSocket(near);
    near.on('data', (chunk) => {
      if (stopped !== undefined) return;
      stopped = this.#stopAt(chunk);
      if (stopped?.side === 'before') void this.#act(stopped);
      else far.write(chunk);
    });
    far.on('data', (chunk) => {
      if (stopped === undefined) near.write(chunk);
      else if (stopped.side === 'after') void this.#act(stopped);
    });
  }

  #stopAt(chunk: Buffer): Stop | undefined {
    const stop = this.#stop;
    if (stop === undefined || !chunk.includes(stop.text)) return undefined;
    stop.left -= 1;
    if (stop.left > 0) return undefined;
    this.#stop = undefined;
    return stop;
  }

  async #act(stop: Stop): Promise<void> {
    if (stop.hasBegun) return;
    stop.hasBegun = true;
    await stop.act();
    for (const socket of this.#sockets) resetSocket(socket);
    stop.reached();
  }
}
