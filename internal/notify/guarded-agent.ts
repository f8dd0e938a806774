import { Agent } from 'node:https';
import { connect, type BlockList, type TcpNetConnectOpts } from 'node:net';
import type { Duplex } from 'node:stream';

/**
 * An HTTPS agent whose connections never reach a forbidden address (`ERR_IP_BLOCKED`). Node
 * compares the address that the socket connects to, so it makes no difference when a name resolves
 * to another address the next time. Each request has a connection of its own.
 */
export class GuardedAgent extends Agent {
  readonly #forbidden: BlockList;

  /** @param ca certificates to trust in place of the system's, PEM. */
  constructor(forbidden: BlockList, ca?: string) {
    super({ keepAlive: false, ...(ca !== undefined && { ca }) });
    this.#forbidden = forbidden;
  }

  /** TLS over a socket of our own: `tls.connect` ignores the list. */
  override createConnection(
    to: TcpNetConnectOpts,
    onCreate?: (error: Error | null, stream: Duplex) => void,
  ): Duplex | null | undefined {
    const socket = connect({ ...to, blockList: this.#forbidden });
    const options: TcpNetConnectOpts & { socket: Duplex } = { ...to, socket };
    const secured = super.createConnection(options, onCreate);
    socket.once('error', (error) => secured?.destroy(error));
    return secured;
  }
}
