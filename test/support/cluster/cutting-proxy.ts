import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/**
 * Passes connections on to another port of 127.0.0.1, byte for byte, and can stop and call in the
 * middle of a long answer, which is how a test hits the middle of a list under TLS.
 */
export class CuttingProxy {
  readonly #server = createServer((client) => this.#pass(client));
  readonly #sockets = new Set<Socket>();
  readonly #port: number;
  #cut: { afterBytes: number; reached: () => void } | undefined;

  private constructor(port: number) {
    this.#port = port;
  }

  static async start(url: string): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(Number(new URL(url).port));
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get url(): string {
    return `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /**
   * Resolves when the server has sent so many bytes on one connection. That connection then carries
   * nothing more.
   */
  standStillAfter(afterBytes: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#cut = { afterBytes, reached: resolve };
    return promise;
  }

  /** Resets every connection, as the system of a server that was killed does. */
  reset(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  async stop(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.reset();
    await closed;
  }

  #pass(client: Socket): void {
    const server = connect(this.#port, '127.0.0.1');
    let received = 0;
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        this.#sockets.delete(from);
        to.destroy();
      });
    }
    client.on('data', (chunk) => server.write(chunk));
    server.on('data', (chunk: Buffer) => {
      received += chunk.length;
      if (this.#cut !== undefined && received > this.#cut.afterBytes) {
        server.pause();
        this.#cut.reached();
        this.#cut = undefined;
      } else client.write(chunk);
    });
  }
}
