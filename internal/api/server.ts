import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { listen } from '../telemetry/listen.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Certificate } from './certificate.ts';
import { inCohorts } from './in-cohorts.ts';
import { answerProtocolErrors } from './protocol-errors.ts';
import { defaultServerLimits, type ServerLimits } from './server-limits.ts';
import { WholeBodyRequest } from './whole-body-request.ts';

/** Connections, also those that still shake hands for TLS: those that are open, and all that were opened so far. */
export interface ConnectionCount {
  open: number;
  opened: number;
}

export interface ServerOptions {
  port: number;
  handler: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  logger: Logger;
  /** With one, the server speaks TLS. */
  certificate?: Certificate | undefined;
  limits?: ServerLimits;
  /** Counts the connections of this server, beside those of others that share it. */
  connections?: ConnectionCount;
}

/** Listens for callers. `stop` finishes the requests under way, and closes idle connections at once. */
export class ApiServer {
  readonly name: string;
  readonly #server: Server;
  readonly #options: ServerOptions;
  readonly #limits: ServerLimits;
  /**
   * The connections, each with the answers it is owed. Not one set of all answers: V8 rebuilds a set that things come
   * into and leave as fast as requests do, and each old table keeps what it held until a full garbage collection.
   * Garbage collection took a fifth of ingest's CPU time then.
   */
  readonly #connections = new Map<Socket, ServerResponse[]>();
  readonly #answered: (this: ServerResponse) => void;
  readonly #handle: (response: ServerResponse) => void;

  constructor(options: ServerOptions) {
    this.#options = options;
    this.#limits = options.limits ?? defaultServerLimits;
    this.name = options.certificate ? 'https server' : 'http server';
    const settings = { ...this.#limits, IncomingMessage: WholeBodyRequest };
    this.#server = options.certificate ? createHttpsServer(settings) : createHttpServer(settings);
    const connections = this.#connections;
    this.#answered = function answered() {
      const owed = connections.get(this.req.socket);
      owed?.splice(owed.indexOf(this), 1);
    };
    this.#handle = inCohorts((response: ServerResponse) => void options.handler(response.req, response));
    const take = (request: IncomingMessage, response: ServerResponse): void => this.#take(request, response);
    // Requests that expect something come as events of their own; otherwise Node would invite every body unseen.
    this.#server.on('request', take).on('checkContinue', take).on('checkExpectation', take);
    const remember = (socket: Socket): void => this.#remember(socket);
    this.#server.on('connection', remember).on('secureConnection', remember);
    if (options.connections) countConnections(this.#server, options.connections);
    answerProtocolErrors(this.#server, (socket) => this.#endsAfterAnswer(socket));
  }

  /** The port listened on: the one configured, or the one the system chose for port 0. */
  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** @throws when the certificate cannot be read or the port is taken. */
  async start(): Promise<void> {
    const { certificate, port, logger } = this.#options;
    await certificate?.start(this.#server);
    await listen(this.#server, port, certificate ? 'HTTPS_PORT' : 'PORT');
    logger.info({ server: this.name, port: this.port }, 'listening');
  }

  /** Bounded in time: once closed, Node no longer cuts slow clients off itself. */
  async stop(): Promise<void> {
    await this.#options.certificate?.stop();
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#closeUnused();
    for (const owed of this.#connections.values()) owed.slice(-1).forEach(endsConnection);
    const cutOff = setTimeout(() => this.#cutAll(), this.#limits.stopTimeout);
    await closed;
    clearTimeout(cutOff);
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    if (!this.#server.listening) endsConnection(response);
    this.#connections.get(request.socket)?.push(response);
    response.on('close', this.#answered);
    this.#handle(response);
  }

  #remember(socket: Socket): void {
    this.#connections.set(socket, []);
    socket.once('close', () => this.#connections.delete(socket));
  }

  /** Node closes connections that are idle after a request, but takes one that has sent nothing yet for busy. */
  #closeUnused(): void {
    for (const socket of this.#connections.keys()) if (socket.bytesRead === 0) socket.destroy();
  }

  #cutAll(): void {
    this.#options.logger.warn({ connections: this.#connections.size }, 'cutting off clients that are too slow');
    for (const socket of this.#connections.keys()) socket.destroy();
  }

  /** True when a complete request on this connection awaits its answer, which is then the last one there. */
  #endsAfterAnswer(socket: Socket): boolean {
    const last = this.#connections.get(socket)?.findLast(({ req }) => req.complete);
    if (last === undefined) return false;
    endsConnection(last);
    return true;
  }
}

function countConnections(server: Server, count: ConnectionCount): void {
  server.on('connection', (socket: Socket) => {
    count.open += 1;
    count.opened += 1;
    socket.once('close', () => {
      count.open -= 1;
    });
  });
}

/** The answer says `Connection: close`, so that no further request is sent on a connection that is about to go. */
function endsConnection(response: ServerResponse): void {
  response.shouldKeepAlive = false;
}
