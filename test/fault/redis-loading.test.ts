import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { connect, disconnect } from '../../internal/queue/ioredis-quirks.ts';
import { createConsumerRedis, createProducerRedis, type RedisClient } from '../../internal/queue/redis.ts';
import { until } from '../support/until.ts';

describe('redis that loads its data', () => {
  const clients: Record<string, (url: string) => RedisClient> = {
    ingest: createProducerRedis,
    worker: createConsumerRedis,
  };

  for (const [name, create] of Object.entries(clients)) {
    it(`${name} takes it up soon after the end of that, whatever Redis had estimated`, async () => {
      let loading = true;
      let told = false;
      // Not the real one: its estimate cannot be chosen.
      const server = createServer((socket) => {
        socket.on('error', () => undefined);
        socket.on('data', (data) => {
          const info = `redis_version:7.0.15\r\nloading:${loading ? 1 : 0}\r\nloading_eta_seconds:600\r\n`;
          for (const [command] of data.toString().matchAll(/\r\n(info|client|hello|select|command)\r\n/gi)) {
            told ||= /info/i.test(command);
            socket.write(/info/i.test(command) ? `$${info.length}\r\n${info}\r\n` : '+OK\r\n');
          }
        });
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const client = create(`redis://127.0.0.1:${(server.address() as AddressInfo).port}`);
      client.on('error', () => undefined);
      try {
        const connecting = connect(client);
        await until('told', () => told);
        loading = false;
        await until('ready', () => client.status === 'ready');
        await connecting;
      } finally {
        await disconnect(client);
        server.close();
      }
    });
  }
});
