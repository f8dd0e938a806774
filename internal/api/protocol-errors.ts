import { STATUS_CODES, type Server } from 'node:http';
import type { Socket } from 'node:net';

interface ProtocolProblem {
  code: string;
  status: number;
  detail: string;
}

const invalid: ProtocolProblem = { code: 'malformed-request', status: 400, detail: 'The request is not valid HTTP.' };

const problems: Record<string, ProtocolProblem> = {
  HPE_HEADER_OVERFLOW: { code: 'headers-too-large', status: 431, detail: 'The headers are too large.' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    code: 'payload-too-large',
    status: 413,
    detail: 'The chunk extensions are too large.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: { code: 'request-timeout', status: 408, detail: 'The request did not arrive in time.' },
};

/** How long a client may take to read the problem before its connection is cut, in ms. */
const lingering = 1_000;

/**
 * Gives requests that are not even HTTP a problem document too; Node would answer with an empty body. The connection
 * ends with it. `leaveToAnswer` says that a complete request came before on the connection and is yet to be answered:
 * the next answer there must be that one's, so nothing is written.
 */
export function answerProtocolErrors(server: Server, leaveToAnswer: (socket: Socket) => boolean): void {
  server.on('clientError', (error: NodeJS.ErrnoException, duplex) => {
    const socket = duplex as Socket;
    if (socket.writableEnded || leaveToAnswer(socket)) return;
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    socket.end(answer(problems[error.code ?? ''] ?? invalid));
    cutLater(socket);
  });
}

/** Not at once: a connection cut while its client is still sending is reset, and the client never sees the answer. */
function cutLater(socket: Socket): void {
  const timer = setTimeout(() => socket.destroy(), lingering);
  socket.once('close', () => clearTimeout(timer));
}

function answer({ code, status, detail }: ProtocolProblem): string {
  const title = STATUS_CODES[status] ?? '';
  const body = JSON.stringify({ type: `https://runledger.dev/problems/${code}`, title, status, detail });
  return (
    `HTTP/1.1 ${status} ${title}\r\nContent-Type: application/problem+json\r\nCache-Control: no-store\r\n` +
    `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`
  );
}
