import { Agent } from 'node:https';
import { connect, type BlockList, type LookupFunction, type TcpNetConnectOpts } from 'node:net';
import type { Duplex } from 'node:stream';

export interface GuardedAgentOptions {
  lookup: LookupFunction;
  /** Certificates to trust instead of the system's, PEM. */
  ca?: string | undefined;
}

/**
 * An HTTPS agent that never connects to a forbidden address (`ERR_IP_BLOCKED`). Node checks the
 * address that the socket connects to, so a name that resolves differently the next time gains
 * nothing. Each request has its own connection.
 */
export class GuardedAgent extends Agent {
  readonly #forbidden: BlockList;
  readonly #lookup: LookupFunction;

  constructor(forbidden: BlockList, { lookup, ca }: GuardedAgentOptions) {
    super({ keepAlive: false, ...(ca !== undefined && { ca }) });
    this.#forbidden = forbidden;
    this.#lookup = lookup;
  }

  /** Runs TLS over our own socket, because `tls.connect` ignores the list. */
  override createConnection(
    to: TcpNetConnectOpts,
    onCreate?: (error: Error | null, stream: Duplex) => void,
  ): Duplex | null | undefined {
    const socket = connect({ ...to, lookup: this.#lookup, blockList: this.#forbidden });
    const options: TcpNetConnectOpts & { socket: Duplex } = { ...to, socket };
    const secured = super.createConnection(options, onCreate);
    socket.once('error', (error) => secured?.destroy(error));
    // A socket that is still looking up a name or connecting does not end with the TLS socket.
    secured?.once('close', () => socket.destroy());
    return secured;
  }
}
