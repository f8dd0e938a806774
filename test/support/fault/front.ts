import { once } from 'node:events';
import { Agent, createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { Pod } from './pod.ts';

/** Between two looks at a pod's readiness, in ms. */
const probeInterval = 500;

interface Backend {
  pod: Pod;
  agent: Agent;
  ready: boolean;
}

/**
 * The proxy in front of ingest in a cluster: ends TLS (as it were), spreads requests over the pods
 * that are ready, and never sends a request twice. Its own answers carry the header `x-front`.
 */
export class Front {
  readonly #server: Server;
  readonly #backends = new Map<Pod, Backend>();
  readonly #patienceMs: number;
  #timer: NodeJS.Timeout | undefined;
  #turn = 0;

  /** `patienceMs`: longest that the proxy waits for an answer. */
  constructor(patienceMs: number) {
    this.#patienceMs = patienceMs;
    this.#server = createServer(
      { keepAliveTimeout: 120_000 },
      (incoming, response) => void this.#handle(incoming, response),
    );
  }

  async start(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#timer = setInterval(() => void this.#probe(), probeInterval);
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async add(pod: Pod): Promise<void> {
    const backend = { pod, agent: new Agent({ keepAlive: true }), ready: false };
    this.#backends.set(pod, backend);
    backend.ready = await pod.isReady();
  }

  remove(pod: Pod): void {
    this.#backends.get(pod)?.agent.destroy();
    this.#backends.delete(pod);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    for (const pod of this.#backends.keys()) this.remove(pod);
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #probe(): Promise<void> {
    await Promise.all(
      [...this.#backends.values()].map(async (backend) => {
        backend.ready = await backend.pod.isReady();
      }),
    );
  }

  async #handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const body = await buffer(incoming);
      const ready = [...this.#backends.values()].filter((backend) => backend.ready);
      this.#turn += 1;
      const backend = ready[this.#turn % ready.length];
      if (backend === undefined) refuse(response, 503);
      else forward(backend, incoming, body, response, this.#patienceMs);
    } catch {
      // The client has gone.
      response.destroy();
    }
  }
}

function forward(
  backend: Backend,
  incoming: IncomingMessage,
  body: Buffer,
  response: ServerResponse,
  timeout: number,
): void {
  const { host: _, connection: __, ...headers } = incoming.headers;
  const outgoing = request({
    port: backend.pod.links['front']?.port,
    host: '127.0.0.1',
    agent: backend.agent,
    method: incoming.method,
    path: incoming.url,
    headers: { ...headers, 'x-forwarded-proto': 'https' },
    timeout,
  });
  outgoing.on('timeout', () => {
    refuse(response, 504);
    outgoing.destroy();
    // A connection that does not answer is not alone: the next request shall not wait for another
    // such.
    for (const socket of Object.values(backend.agent.freeSockets).flat()) socket?.destroy();
  });
  outgoing.on('error', () => refuse(response, 502));
  outgoing.on('response', (answer) => {
    buffer(answer).then(
      (content) => {
        const { connection: _, 'transfer-encoding': __, ...headers } = answer.headers;
        response.writeHead(answer.statusCode ?? 502, headers).end(content);
      },
      () => refuse(response, 502),
    );
  });
  outgoing.end(body);
}

function refuse(response: ServerResponse, status: number): void {
  if (!response.headersSent) response.writeHead(status, { 'x-front': 'yes', 'content-length': 0 }).end();
}
