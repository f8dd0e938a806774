import { STATUS_CODES, type Server } from 'node:http';
import type { Socket } from 'node:net';

const statusOf: Record<string, { status: number; detail: string }> = {
  HPE_HEADER_OVERFLOW: { status: 431, detail: 'The headers are too large.' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, detail: 'The chunk extensions are too large.' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, detail: 'The request did not arrive in time.' },
};

/** Gives requests that are not even HTTP a problem document too; Node would answer with an empty body. */
export function answerProtocolErrors(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, duplex) => {
    const socket = duplex as Socket;
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const { status, detail } = statusOf[error.code ?? ''] ?? { status: 400, detail: 'The request is not valid HTTP.' };
    const title = STATUS_CODES[status] ?? '';
    const body = JSON.stringify({ type: 'https://runledger.dev/problems/malformed-request', title, status, detail });
    socket.end(
      `HTTP/1.1 ${status} ${title}\r\nContent-Type: application/problem+json\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    );
  });
}
