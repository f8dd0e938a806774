import { createServer, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { listen } from '../http/listen.ts';
import type { Registry } from '../telemetry/metrics.ts';
import { failing, type Probes } from './probes.ts';

/** The settings for the ops server's address; all addresses without `LISTEN_ADDRESS`. */
export interface OpsAddress {
  OPS_PORT: number;
  LISTEN_ADDRESS?: string | undefined;
}

/** The ops port: `/metrics`, `/healthz`, `/readyz`. Plain HTTP, no token. */
export class OpsServer {
  readonly name = 'ops server';
  readonly #server: Server;
  readonly #where: OpsAddress;

  constructor(where: OpsAddress, probes: Probes, registry: Registry) {
    this.#where = where;
    this.#server = createServer((request, response) => {
      const [path = ''] = (request.url ?? '').split('?', 1);
      if (path === '/healthz') return answerProbe(response, failing(probes.live));
      if (path === '/readyz') return answerProbe(response, failing(probes.ready), failing(probes.degraded));
      if (path === '/metrics') return answerMetrics(response, registry);
      return answer(response, 404, 'text/plain', 'Try /metrics, /healthz or /readyz.\n');
    });
  }

  /** The port: the configured one, or the system's choice for port 0. */
  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async start(): Promise<void> {
    const { OPS_PORT: port, LISTEN_ADDRESS: address } = this.#where;
    await listen(this.#server, { port, address, setting: 'OPS_PORT' });
  }

  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}

function answer(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body);
}

/** Check name → one sentence. */
type Failures = Record<string, string>;

const isEmpty = (failures: Failures): boolean => Object.keys(failures).length === 0;

function answerProbe(response: ServerResponse, failed: Failures, degraded: Failures = {}): void {
  const ok = isEmpty(failed);
  const body = {
    status: ok ? 'ok' : 'failing',
    ...(!ok && { failing: failed }),
    ...(!isEmpty(degraded) && { degraded }),
  };
  answer(response, ok ? 200 : 503, 'application/json', JSON.stringify(body));
}

function answerMetrics(response: ServerResponse, registry: Registry): void {
  registry.metrics().then(
    (text) => answer(response, 200, registry.contentType, text),
    (error: unknown) => answer(response, 500, 'text/plain', `${String(error)}\n`),
  );
}
