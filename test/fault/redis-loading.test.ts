import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { expect } from 'chai';
import {
  connect,
  createConsumerRedis,
  createProducerRedis,
  disconnect,
  type RedisClient,
} from '../../internal/queue/redis.ts';
import { until } from '../support/until.ts';

/**
 * A server that says it is loading its data, and for how long: what the real one estimates cannot
 * be chosen.
 */
class LoadingServer {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  loading = true;
  /** True once a client has been told that it is loading. */
  told = false;

  constructor(estimateSeconds: number) {
    this.#server = createServer((socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('data', (data) => {
        const info = `redis_version:7.0.15\r\nloading:${this.loading ? 1 : 0}\r\nloading_eta_seconds:${estimateSeconds}\r\n`;
        for (const [command] of data.toString().matchAll(/\r\n(info|client|hello|select|command)\r\n/gi)) {
          this.told ||= /info/i.test(command);
          socket.write(/info/i.test(command) ? `$${info.length}\r\n${info}\r\n` : '+OK\r\n');
        }
      });
    });
  }

  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `redis://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

describe('redis that loads its data', () => {
  const clients: Record<string, (url: string) => RedisClient> = {
    ingest: createProducerRedis,
    worker: createConsumerRedis,
  };

  for (const [name, create] of Object.entries(clients)) {
    it(`${name} takes it up within a second of the end of that, whatever Redis had estimated`, async () => {
      const server = new LoadingServer(600);
      const client = create(await server.start());
      client.on('error', () => undefined);
      try {
        const connecting = connect(client);
        await until('told', () => server.told);
        server.loading = false;
        const begun = performance.now();
        await until('ready', () => client.status === 'ready', 5_000);
        expect(performance.now() - begun).to.be.below(1_000);
        await connecting;
      } finally {
        await disconnect(client);
        await server.stop();
      }
    });
  }
});
