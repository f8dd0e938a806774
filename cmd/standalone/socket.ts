import { once } from 'node:events';
import { connect } from 'node:net';

/** True when a process listens on the Unix socket. */
export async function answers(path: string): Promise<boolean> {
  const socket = connect(path);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
