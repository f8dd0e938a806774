import { once } from 'node:events';
import type { Server } from 'node:net';

const reasons: Record<string, string> = {
  EADDRINUSE: 'is already in use',
  EACCES: 'may not be used by this user',
};

/** Listens on a port, 0 for one the system chooses. @throws an error that names the setting when the port cannot be had. */
export async function listen(server: Server, port: number, setting: string): Promise<void> {
  server.listen(port);
  try {
    await once(server, 'listening');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    throw new Error(`${setting} ${port} ${reasons[code] ?? `cannot be listened on (${code})`}`, { cause: error });
  }
}
