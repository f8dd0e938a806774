import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * A port that nothing listens on, for servers that cannot choose one. It is below the range that
 * the system draws outgoing connections' ports from: a restarted server finds its port free.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 12_000 + Math.floor(Math.random() * 18_000);
    if ((await reserve(port)) && (await isFree(port))) return port;
  }
}

/**
 * Keeps a port for this process until it ends, by the UDP port 30,000 above it. Test processes run
 * side by side: without it another one could take the port before a server of this one listens.
 */
async function reserve(port: number): Promise<boolean> {
  const note = createSocket('udp4').unref();
  try {
    note.bind({ address: '127.0.0.1', port: port + 30_000, exclusive: true });
    await once(note, 'listening');
    return true;
  } catch {
    note.close();
    return false;
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
