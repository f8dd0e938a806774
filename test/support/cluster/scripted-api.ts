import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { resetSocket } from '../reset-socket.ts';

export interface ScriptedSecret {
  readonly metadata: { name: string; labels: Record<string, string>; resourceVersion?: string; uid?: string };
  readonly stringData: Record<string, string>;
}

/** Answers one request in place of the usual answer. Doing nothing leaves the client waiting. */
export type Script = (request: ApiRequest, response: ServerResponse) => void;

export interface ApiRequest {
  readonly kind: 'list' | 'watch' | 'event';
  readonly query: URLSearchParams;
  readonly authorization: string | undefined;
  readonly body: string;
}

/**
 * A server that speaks as much of the Kubernetes API as the token source uses, and misbehaves on
 * request: for the faults that a real API server cannot be made to show. Plain HTTP, on a free
 * port.
 */
export class ScriptedApi {
  readonly requests: ApiRequest[] = [];
  readonly sockets = new Set<Socket>();
  readonly #secrets = new Map<string, ScriptedSecret>();
  readonly #watches = new Set<ServerResponse>();
  readonly #history: { version: number; frame: string }[] = [];
  readonly #scripts: { kind: ApiRequest['kind']; times: number; script: Script }[] = [];
  readonly #server = createServer((request, response) => void this.#answer(request, response));
  #version = 1;

  static async start(): Promise<ScriptedApi> {
    const api = new ScriptedApi();
    api.#server.on('connection', (socket) => {
      api.sockets.add(socket);
      socket.on('close', () => api.sockets.delete(socket));
    });
    api.#server.listen(0, '127.0.0.1');
    await once(api.#server, 'listening');
    return api;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Watches that are open now. */
  get watches(): number {
    return this.#watches.size;
  }

  count(kind: ApiRequest['kind']): number {
    return this.requests.filter((request) => request.kind === kind).length;
  }

  /**
   * Answers the next requests of a kind, or all from now on, by a script. The first script that
   * fits wins.
   */
  script(kind: ApiRequest['kind'], script: Script, times = 1): void {
    this.#scripts.push({ kind, times, script });
  }

  /** From now on every request gets its usual answer. */
  behave(): void {
    this.#scripts.length = 0;
  }

  /** Stores a Secret with one token and tells the watches, unless they are to miss it for now. */
  put(name: string, organization: string, token: string, tell = true): void {
    this.putEntries(name, organization, { token }, tell);
  }

  /** The same for a Secret with several entries. */
  putEntries(name: string, organization: string, stringData: Record<string, string>, tell = true): void {
    const type = this.#secrets.has(name) ? 'MODIFIED' : 'ADDED';
    const labels = { 'runledger.dev/organization': organization };
    const secret = { metadata: { name, uid: `uid-${name}`, labels }, stringData };
    this.#secrets.set(name, this.#record(type, secret, tell));
  }

  delete(name: string): void {
    const secret = this.#secrets.get(name);
    this.#secrets.delete(name);
    if (secret !== undefined) this.#record('DELETED', secret, true);
  }

  /** Sends raw text on every open watch. */
  send(frame: string): void {
    for (const watch of this.#watches) watch.write(frame);
  }

  /** Ends every open watch: cleanly, or with a reset. */
  endWatches(how: 'end' | 'reset'): void {
    for (const watch of this.#watches) {
      if (how === 'end') watch.end();
      else if (watch.socket !== null) resetSocket(watch.socket);
    }
  }

  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  #record(type: string, secret: ScriptedSecret, tell: boolean): ScriptedSecret {
    this.#version += 1;
    const resourceVersion = String(this.#version);
    const object = { ...secret, metadata: { ...secret.metadata, namespace: 'tokens', resourceVersion } };
    const frame = `${JSON.stringify({ type, object })}\n`;
    this.#history.push({ version: this.#version, frame });
    if (tell) this.send(frame);
    return object;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { searchParams: query } = new URL(request.url ?? '/', this.url);
    const body = await text(request);
    const kind = request.method === 'POST' ? 'event' : query.get('watch') === 'true' ? 'watch' : 'list';
    const seen: ApiRequest = { kind, query, body, authorization: request.headers.authorization };
    this.requests.push(seen);
    const next = this.#scripts.find((candidate) => candidate.kind === kind && candidate.times > 0);
    if (next !== undefined) {
      next.times -= 1;
      next.script(seen, response);
    } else if (kind === 'list') this.#list(query, response);
    else if (kind === 'watch') this.#watch(query, response);
    else json(response, 201, {});
  }

  #list(query: URLSearchParams, response: ServerResponse): void {
    const from = Number(query.get('continue') ?? 0);
    const to = from + Number(query.get('limit') ?? Infinity);
    const all = [...this.#secrets.values()];
    const metadata = { resourceVersion: String(this.#version), ...(to < all.length && { continue: String(to) }) };
    json(response, 200, { kind: 'SecretList', metadata, items: all.slice(from, to) });
  }

  #watch(query: URLSearchParams, response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
    this.#watches.add(response);
    response.on('close', () => this.#watches.delete(response));
    const since = Number(query.get('resourceVersion'));
    for (const { version, frame } of this.#history) if (version > since) response.write(frame);
  }
}

/** The answer of an API server that says no. */
export function refuse(status: number, message: string): Script {
  return (_request, response) => json(response, status, { kind: 'Status', status: 'Failure', code: status, message });
}

/** Leaves the request without an answer. */
export const silence: Script = () => undefined;

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
