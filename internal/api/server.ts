import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Logger } from '../telemetry/logger.ts';
import type { Certificate } from './certificate.ts';
import { answerProtocolErrors } from './protocol-errors.ts';

/** Slow clients are cut off; idle connections outlive the idle time of common proxies (60 s). In ms and bytes. */
const limits = {
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  connectionsCheckingInterval: 2_000,
  keepAliveTimeout: 75_000,
  maxHeaderSize: 16_384,
};

export interface ServerOptions {
  port: number;
  handler: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  logger: Logger;
  /** With one, the server speaks TLS. */
  certificate?: Certificate | undefined;
}

/** Listens for callers. `stop` finishes the requests under way, and closes idle connections at once. */
export class ApiServer {
  readonly name: string;
  readonly #server: Server;
  readonly #options: ServerOptions;
  readonly #underWay = new Set<ServerResponse>();

  constructor(options: ServerOptions) {
    this.#options = options;
    this.name = options.certificate ? 'https server' : 'http server';
    const listener: RequestListener = (request, response) => void options.handler(request, response);
    this.#server = options.certificate ? createHttpsServer(limits, listener) : createHttpServer(limits, listener);
    answerProtocolErrors(this.#server);
    this.#server.prependListener('request', (_request, response) => this.#track(response));
  }

  /** The port listened on: the one configured, or the one the system chose for port 0. */
  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** @throws when the certificate cannot be read or the port is taken. */
  async start(): Promise<void> {
    const { certificate, port, logger } = this.#options;
    await certificate?.start(this.#server);
    this.#server.listen(port);
    await once(this.#server, 'listening');
    logger.info({ server: this.name, port: this.port }, 'listening');
  }

  async stop(): Promise<void> {
    await this.#options.certificate?.stop();
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const response of this.#underWay) endsConnection(response);
    await closed;
  }

  #track(response: ServerResponse): void {
    if (!this.#server.listening) endsConnection(response);
    this.#underWay.add(response);
    response.once('close', () => this.#underWay.delete(response));
  }
}

/** While stopping, each answer ends its connection, so that no further request is sent on one that is about to close. */
function endsConnection(response: ServerResponse): void {
  response.shouldKeepAlive = false;
}
