import { Agent } from 'node:https';
import { connect, type BlockList, type LookupFunction, type TcpNetConnectOpts } from 'node:net';
import type { Duplex } from 'node:stream';

export interface GuardedAgentOptions {
  lookup: LookupFunction;
  /** Certificates to trust in place of the system's, PEM. */
  ca?: string | undefined;
}

/**
 * An HTTPS agent whose connections never reach a forbidden address (`ERR_IP_BLOCKED`). Node
 * compares the address that the socket connects to, so it makes no difference when a name resolves
 * to another address the next time. Each request has a connection of its own.
 */
export class GuardedAgent extends Agent {
  readonly #forbidden: BlockList;
  readonly #lookup: LookupFunction;

  constructor(forbidden: BlockList, { lookup, ca }: GuardedAgentOptions) {
    super({ keepAlive: false, ...(ca !== undefined && { ca }) });
    this.#forbidden = forbidden;
    this.#lookup = lookup;
  }

  /** TLS over a socket of our own: `tls.connect` ignores the list. */
  override createConnection(
    to: TcpNetConnectOpts,
    onCreate?: (error: Error | null, stream: Duplex) => void,
  ): Duplex | null | undefined {
    const socket = connect({ ...to, lookup: this.#lookup, blockList: this.#forbidden });
    const options: TcpNetConnectOpts & { socket: Duplex } = { ...to, socket };
    const secured = super.createConnection(options, onCreate);
    socket.once('error', (error) => secured?.destroy(error));
    // A socket that still looks up a name, or connects, does not end with what is above it.
    secured?.once('close', () => socket.destroy());
    return secured;
  }
}
