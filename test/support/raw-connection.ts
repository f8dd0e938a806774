import { once } from 'node:events';
import { connect, type Socket, type SocketConstructorOpts } from 'node:net';
import { until } from './until.ts';

/**
 * A TCP connection that says byte for byte what a test wants, for what an HTTP client would not
 * send.
 */
export class RawConnection implements Disposable {
  readonly closed: Promise<unknown>;
  readonly #socket: Socket;
  #received = '';

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.closed = new Promise((resolve) => {
      socket.once('close', resolve);
    });
    socket.setEncoding('utf8').on('data', (chunk: string) => (this.#received += chunk));
    socket.on('error', () => undefined);
  }

  static async open(port: number, options: SocketConstructorOpts = {}): Promise<RawConnection> {
    const socket = connect({ port, host: '127.0.0.1', ...options });
    await once(socket, 'connect');
    return new RawConnection(socket);
  }

  get isClosed(): boolean {
    return this.#socket.closed;
  }

  /** Everything received so far. */
  get received(): string {
    return this.#received;
  }

  /**
   * Sends bytes, or lines with CRLF between, and the empty line that ends headers when the last one
   * is ''.
   */
  send(...lines: [Buffer] | string[]): void {
    this.#socket.write(Buffer.isBuffer(lines[0]) ? lines[0] : lines.join('\r\n'));
  }

  /** Resolves when what was received matches. */
  async receives(pattern: RegExp): Promise<string> {
    return until(String(pattern), () => (pattern.test(this.#received) ? this.#received : undefined));
  }

  /** Everything received until the other side closed. */
  async toEnd(): Promise<string> {
    await this.closed;
    return this.#received;
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }
}

/**
 * The first lines of a request that registers an event. To be followed by how its body is
 * delimited.
 */
export function registerHead(token = 'x'): string[] {
  return [
    'POST /v1/register/ HTTP/1.1',
    'Host: x',
    'X-Forwarded-Proto: https',
    `Token: ${token}`,
    'Content-Type: application/json',
  ];
}

/**
 * Sends one raw request and gives back all that is answered until the server closes the connection.
 */
export async function exchange(port: number, ...lines: string[]): Promise<string> {
  using connection = await RawConnection.open(port);
  connection.send(...lines);
  return await connection.toEnd();
}
