import { STATUS_CODES, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { problem, problemHeaders, type Problem } from './problem.ts';

/** Errors of Node's parser with their own problem. */
const problems: Record<string, Problem> = {
  HPE_HEADER_OVERFLOW: problem('headers-too-large', 'The headers are too large.'),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: problem('payload-too-large', 'The chunk extensions are too large.'),
  ERR_HTTP_REQUEST_TIMEOUT: problem('request-timeout', 'The request did not arrive in time.'),
};

const invalid = problem('malformed-request', 'The request is not valid HTTP.');

/** How long a client has to read the problem before the server cuts the connection, in ms. */
const lingering = 1_000;

/**
 * Answers requests that are not valid HTTP with a problem document, and closes the connection; Node
 * would answer without a body. Writes nothing if `leaveToAnswer` is true, since an earlier request
 * on the connection awaits its answer.
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

/**
 * An immediate cut would reset the connection of a client that still sends, and so lose the answer.
 */
function cutLater(socket: Socket): void {
  const timer = setTimeout(() => socket.destroy(), lingering);
  socket.once('close', () => clearTimeout(timer));
}

/** Returns the answer as text, because an invalid HTTP request has no response object. */
function answer(document: Problem): string {
  const { status } = document;
  const body = JSON.stringify(document);
  const length = String(Buffer.byteLength(body));
  const headers = { ...problemHeaders(document), 'Content-Length': length, Connection: 'close' };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`, ...lines, '', body].join('\r\n');
}
