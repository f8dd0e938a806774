import { connect, createServer, type AddressInfo, type NetConnectOpts, type Server, type Socket } from 'node:net';
import { once } from 'node:events';

/** `host:port`, or the path of a UNIX socket, which is the same in every network namespace. */
export type Endpoint = string;

/** Passes connections on, to one target after the other, as a Service does. Resolves when it listens. */
export async function forward(from: Endpoint, to: readonly Endpoint[]): Promise<Forwarder> {
  const sockets = new Set<Socket>();
  let next = 0;
  const server = createServer((client) => {
    const target = connect(options(to[next++ % to.length] ?? ''));
    for (const [one, other] of [
      [client, target],
      [target, client],
    ] as const) {
      sockets.add(one);
      one.on('close', () => sockets.delete(one)).on('error', () => other.destroy());
      one.pipe(other);
    }
  });
  server.listen(options(from));
  await once(server, 'listening');
  return new Forwarder(server, sockets);
}

export class Forwarder {
  readonly #server: Server;
  readonly #sockets: Set<Socket>;

  constructor(server: Server, sockets: Set<Socket>) {
    this.#server = server;
    this.#sockets = sockets;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}

function options(endpoint: Endpoint): NetConnectOpts {
  const [, host, port] = /^([^/]*):(\d+)$/.exec(endpoint) ?? [];
  return host === undefined ? { path: endpoint } : { host, port: Number(port) };
}

// As a program: node forward.ts FROM TO…
if (import.meta.main) {
  const [from = '', ...to] = process.argv.slice(2);
  await forward(from, to);
  console.log('forwarding');
}
