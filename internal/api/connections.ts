import type { Server, ServerResponse } from 'node:http';
import { Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';

/**
 * Connections, also those that still shake hands for TLS: those that are open, and all that were
 * opened so far.
 */
export interface ConnectionCount {
  open: number;
  opened: number;
}

/**
 * The connections of a server, and the answers that each is pending: what it takes to end them
 * without losing an answer.
 */
export class Connections {
  /** As they were accepted. */
  readonly #accepted = new Set<Socket>();
  /**
   * Those that requests come on, which with TLS are sockets of their own. Not one set of all
   * answers: V8 rebuilds a set that things come into and leave as fast as requests do, and each old
   * table keeps what it held until a full garbage collection. Garbage collection took a fifth of
   * ingest's CPU time then.
   */
  readonly #pending = new Map<Socket, ServerResponse[]>();
  readonly #answered: (this: ServerResponse) => void;

  /** `count` is of all servers that share it. */
  constructor(server: Server, count: ConnectionCount = { open: 0, opened: 0 }) {
    const pending = this.#pending;
    this.#answered = function answered() {
      const responses = pending.get(this.req.socket);
      responses?.splice(responses.indexOf(this), 1);
    };
    server.on('connection', (socket: Socket) => {
      this.#accepted.add(socket);
      count.open += 1;
      count.opened += 1;
      socket.once('close', () => {
        this.#accepted.delete(socket);
        count.open -= 1;
      });
    });
    server.on(server instanceof HttpsServer ? 'secureConnection' : 'connection', (socket: Socket) => {
      pending.set(socket, []);
      socket.once('close', () => pending.delete(socket));
    });
  }

  get open(): number {
    return this.#accepted.size;
  }

  /** Remembers an answer until it is given. */
  addPending(response: ServerResponse): void {
    this.#pending.get(response.req.socket)?.push(response);
    response.on('close', this.#answered);
  }

  /**
   * Each connection ends with the last answer that it is pending; one that has sent nothing yet,
   * which Node takes for busy, ends at once. Those that are idle after a request are Node's to
   * close.
   */
  endWhenAnswered(): void {
    for (const socket of this.#all()) if (socket.bytesRead === 0) socket.destroy();
    for (const responses of this.#pending.values()) responses.slice(-1).forEach(endsConnection);
  }

  cutAll(): void {
    for (const socket of this.#all()) socket.destroy();
  }

  /**
   * True when a complete request on this connection awaits its answer, which is then the last one
   * there.
   */
  endsAfterAnswer(socket: Socket): boolean {
    const last = this.#pending.get(socket)?.findLast(({ req }) => req.complete);
    if (last === undefined) return false;
    endsConnection(last);
    return true;
  }

  #all(): Socket[] {
    return [...this.#accepted, ...this.#pending.keys()];
  }
}

/**
 * The answer says `Connection: close`, so that no further request is sent on a connection that is
 * about to go.
 */
export function endsConnection(response: ServerResponse): void {
  response.shouldKeepAlive = false;
}
