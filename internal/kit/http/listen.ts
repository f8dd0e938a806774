import { once } from 'node:events';
import type { Server } from 'node:net';

/** The address of a server, and the setting of its port. */
export interface ListenOptions {
  /** 0 lets the system choose. */
  port: number;
  /** An address of this machine; all addresses unless set. */
  address: string | undefined;
  setting: string;
}

const reasons: Record<string, string> = {
  EADDRINUSE: 'is already in use',
  EACCES: 'may not be used by this user',
};

/** Resolves once the server listens. @throws an error that names the setting to change. */
export async function listen(server: Server, { port, address, setting }: ListenOptions): Promise<void> {
  server.listen(port, address);
  try {
    await once(server, 'listening');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
      throw new Error(`LISTEN_ADDRESS ${address} is not an address of this machine`, { cause: error });
    }
    throw new Error(`${setting} ${port} ${reasons[code] ?? `cannot be used (${code})`}`, { cause: error });
  }
}
