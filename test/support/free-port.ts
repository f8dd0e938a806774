import { once } from 'node:events';
import { createServer } from 'node:net';

const taken = new Set<number>();

/**
 * A port that nothing listens on, for servers that cannot choose one. It is below the range that
 * the system draws outgoing connections' ports from: a restarted server finds its port free.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 12_000 + Math.floor(Math.random() * 18_000);
    if (!taken.has(port) && (await isFree(port))) {
      taken.add(port);
      return port;
    }
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
