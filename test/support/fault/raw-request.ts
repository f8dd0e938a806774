import { connect } from 'node:net';

export interface RawExchange {
  /** The status of each answer, in order. */
  statuses: number[];
  received: string;
  /** True when the server closed the connection, false when it fell silent. */
  closed: boolean;
}

/**
 * Sends bytes on a connection of their own and resolves with all that is answered until the server
 * closes it, or falls silent.
 */
export function exchangeRaw(port: number, bytes: string | Buffer, silenceMs = 400): Promise<RawExchange> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    const chunks: Buffer[] = [];
    let closed = true;
    socket.setTimeout(silenceMs, () => {
      closed = false;
      socket.destroy();
    });
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', () => undefined);
    socket.on('close', () => {
      const received = Buffer.concat(chunks).toString('latin1');
      const statuses = [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1]));
      resolve({ statuses, received, closed });
    });
    socket.write(bytes);
  });
}
