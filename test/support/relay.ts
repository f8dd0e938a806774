import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/**
 * A TCP relay in front of a server. Frozen, its connections stay open and carry nothing, as after a
 * cut of the network.
 */
export interface Relay extends AsyncDisposable {
  port: number;
  /** Connections taken so far. */
  readonly accepted: number;
  /** Open connections carry nothing any more, nor do new ones until {@link thaw}. */
  freeze(): void;
  /** New connections work again; those frozen stay dead. */
  thaw(): void;
  /**
   * New connections go to another server; open ones stay, as behind the address of a
   * Service.
   */
  lead(target: number): void;
}

export async function startRelay(firstTarget: number): Promise<Relay> {
  const sockets = new Set<Socket>();
  let target = firstTarget;
  let accepted = 0;
  let frozen = false;
  const keep = (socket: Socket): Socket => {
    sockets.add(socket.on('error', () => undefined).on('close', () => sockets.delete(socket)));
    return socket;
  };
  const server = createServer((near) => {
    accepted += 1;
    keep(near);
    if (frozen) return;
    const far = keep(connect(target, '127.0.0.1'));
    near.pipe(far);
    far.pipe(near);
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    get accepted() {
      return accepted;
    },
    freeze() {
      frozen = true;
      for (const socket of sockets) socket.unpipe().pause();
    },
    thaw() {
      frozen = false;
    },
    lead(next) {
      target = next;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
