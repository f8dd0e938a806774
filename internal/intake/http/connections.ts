import type { Server, ServerResponse } from 'node:http';
import { Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';

/** Open connections, and connections opened so far. Includes TLS handshakes in progress. */
export interface ConnectionCount {
  open: number;
  opened: number;
}

/** Tracks a server's connections and their pending responses, so that a stop loses no answer. */
export class Connections {
  /** TCP connections. */
  readonly #accepted = new Set<Socket>();
  /**
   * Sockets that deliver requests; with TLS they wrap the TCP sockets. One list per socket: a
   * single set of all responses cost a fifth of ingest's CPU time in garbage collection.
   */
  readonly #pending = new Map<Socket, ServerResponse[]>();
  readonly #answered: (this: ServerResponse) => void;

  /** @param count covers all servers that share it. */
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

  /** Tracks a response until it closes. */
  addPending(response: ServerResponse): void {
    this.#pending.get(response.req.socket)?.push(response);
    response.on('close', this.#answered);
  }

  /**
   * Closes each connection after its last pending response. Destroys connections that have sent no
   * bytes, which Node counts as active. Node itself closes idle connections.
   */
  endWhenAnswered(): void {
    for (const socket of this.#all()) if (socket.bytesRead === 0) socket.destroy();
    for (const responses of this.#pending.values()) responses.slice(-1).forEach(endsConnection);
  }

  cutAll(): void {
    for (const socket of this.#all()) socket.destroy();
  }

  /**
   * True when a complete request on this connection awaits its answer, which then ends the
   * connection.
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
 * Adds `Connection: close` to the answer, so that the client sends no further request on the
 * connection.
 */
export function endsConnection(response: ServerResponse): void {
  response.shouldKeepAlive = false;
}
