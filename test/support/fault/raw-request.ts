import { connect } from 'node:net';

/** Sends bytes on a connection of their own and resolves with all that is answered until the server closes it, or falls silent. */
export function exchangeRaw(port: number, bytes: string | Buffer, silenceMs = 400): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    const received: Buffer[] = [];
    socket.setTimeout(silenceMs, () => socket.destroy());
    socket.on('data', (chunk) => received.push(chunk));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(Buffer.concat(received).toString('latin1')));
    socket.write(bytes);
  });
}

/** The status of each answer in what was received, in order. */
export function statusesOf(received: string): number[] {
  return [...received.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map((match) => Number(match[1]));
}
