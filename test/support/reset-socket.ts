import type { Socket } from 'node:net';

/**
 * Resets a connection. One that is being shut down is reset a moment later: libuv resets none in
 * its shutdown, and Node then forgets the handle, which stays open and keeps the process alive.
 */
export function resetSocket(socket: Socket): void {
  const isShuttingDown = socket.writableEnded && !socket.writableFinished && socket.writableLength === 0;
  if (isShuttingDown && !socket.destroyed) socket.once('finish', () => socket.resetAndDestroy());
  else socket.resetAndDestroy();
}
