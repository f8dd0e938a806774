import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { listen } from '../../kit/http/listen.ts';
import type { Logger } from '../../kit/telemetry/logger.ts';
import type { Certificate } from './certificate.ts';
import { Connections, endsConnection, type ConnectionCount } from './connections.ts';
import { batchPerTurn } from '../fast-path/batch-per-turn.ts';
import { WholeBodyRequest } from '../fast-path/whole-body-request.ts';
import type { Handler } from './http-stack.ts';
import { answerProtocolErrors } from './protocol-errors.ts';
import { defaultServerLimits, type ServerLimits } from './server-limits.ts';

export interface ServerOptions {
  port: number;
  /** Names the port in errors; PORT or HTTPS_PORT unless set. */
  portSetting?: string | undefined;
  /** The address to listen on; all addresses unless set. */
  address?: string | undefined;
  handler: Handler;
  /** True reads bodies and starts handlers as `fast-path/` does; false, as Node does. */
  fastPath: boolean;
  logger: Logger;
  /** Its presence turns TLS on. */
  certificate?: Certificate | undefined;
  limits?: ServerLimits;
  /** Counts the connections of all servers that share this object. */
  connections?: ConnectionCount;
}

/**
 * Listens for callers. `stop` answers the requests in progress, and closes idle connections
 * immediately.
 */
export class ApiServer {
  readonly name: string;
  readonly #server: Server;
  readonly #options: ServerOptions;
  readonly #limits: ServerLimits;
  readonly #connections: Connections;
  readonly #handle: (response: ServerResponse) => void;

  constructor(options: ServerOptions) {
    this.#options = options;
    this.#limits = options.limits ?? defaultServerLimits;
    this.name = options.certificate ? 'https server' : 'http server';
    const request = options.fastPath ? { IncomingMessage: WholeBodyRequest } : {};
    const settings = { ...this.#limits, ...request, requireHostHeader: false };
    this.#server = options.certificate ? createHttpsServer(settings) : createHttpServer(settings);
    this.#connections = new Connections(this.#server, options.connections);
    const handle = (response: ServerResponse): void => void options.handler(response.req, response);
    this.#handle = options.fastPath ? batchPerTurn(handle) : handle;
    const take = (_request: IncomingMessage, response: ServerResponse): void => this.#take(response);
    // Node emits these events for requests with `Expect`. Without listeners it would invite every
    // body.
    this.#server.on('request', take).on('checkContinue', take).on('checkExpectation', take);
    answerProtocolErrors(this.#server, (socket) => this.#connections.endsAfterAnswer(socket));
  }

  /** The configured port, or the system's choice for port 0. */
  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** @throws when the certificate cannot be read or the port is in use. */
  async start(): Promise<void> {
    const { certificate, port, address, logger } = this.#options;
    const { portSetting: setting = certificate ? 'HTTPS_PORT' : 'PORT' } = this.#options;
    await certificate?.start(this.#server);
    await listen(this.#server, { port, address, setting });
    logger.info({ server: this.name, port: this.port }, 'listening');
  }

  /** Takes at most `stopTimeout`, because a closed Node server no longer cuts off slow clients. */
  async stop(): Promise<void> {
    await this.#options.certificate?.stop();
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#connections.endWhenAnswered();
    const cutOff = setTimeout(() => this.#cutAll(), this.#limits.stopTimeout);
    await closed;
    clearTimeout(cutOff);
  }

  #take(response: ServerResponse): void {
    if (!this.#server.listening) endsConnection(response);
    this.#connections.addPending(response);
    this.#handle(response);
  }

  #cutAll(): void {
    this.#options.logger.warn({ connections: this.#connections.open }, 'cutting off clients that are too slow');
    this.#connections.cutAll();
  }
}
