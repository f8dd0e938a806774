import { once } from 'node:events';
import { Agent as HttpAgent, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
  /** The body as JSON. */
  json<T = Record<string, unknown>>(): T;
}

export interface Request {
  method?: string;
  path: string;
  /** A header with a list comes once for each value. */
  headers?: Record<string, string | string[] | undefined>;
  /** Of a list, each piece is written in a turn of the event loop of its own. */
  body?: string | Buffer | readonly Buffer[];
  /** Longest silence of the server before the request fails, in ms; no limit unless set. */
  timeoutMs?: number | undefined;
}

/** A caller of the API on kept-alive connections. Follows no redirect. */
export class ApiClient {
  readonly #base: URL;
  readonly #headers: Record<string, string>;
  readonly #agent: HttpAgent | HttpsAgent;

  constructor(
    base: string,
    headers: Record<string, string> = {},
    tls: { ca?: string | Buffer; maxSockets?: number } = {},
  ) {
    this.#base = new URL(base);
    this.#headers = headers;
    const options = { keepAlive: true, ...tls };
    this.#agent = this.#base.protocol === 'https:' ? new HttpsAgent(options) : new HttpAgent(options);
  }

  /** Sends a request. A header given as undefined is left out, also one of the client's own. */
  async send({ method = 'GET', path, headers = {}, body, timeoutMs }: Request): Promise<Answer> {
    const merged = Object.entries({ ...this.#headers, ...headers }).filter(([, value]) => value !== undefined);
    const send = this.#base.protocol === 'https:' ? httpsRequest : httpRequest;
    const request = send(new URL(this.#base), {
      method,
      path,
      agent: this.#agent,
      headers: Object.fromEntries(merged),
      timeout: timeoutMs,
    });
    request.on('error', () => undefined);
    request.on('timeout', () => {
      // A dead connection is seldom alone: the next request must not wait for another one.
      for (const socket of Object.values(this.#agent.freeSockets).flat()) socket?.destroy();
      request.socket?.destroy();
    });
    const isWhole = body === undefined || typeof body === 'string' || Buffer.isBuffer(body);
    for (const piece of isWhole ? [] : body) {
      request.write(piece);
      await setImmediate();
    }
    request.end(isWhole ? body : undefined);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    const content = await text(response);
    return {
      status: response.statusCode ?? 0,
      headers: response.headers,
      body: content,
      json: <T>() => JSON.parse(content) as T,
    };
  }

  /**
   * Registers an event given as a value, or a body given as text or bytes. `path`: other than that
   * of single events.
   */
  register(
    body: unknown,
    headers: Request['headers'] = {},
    timeoutMs?: number,
    path = '/v1/register/',
  ): Promise<Answer> {
    const raw = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    return this.send({
      method: 'POST',
      path,
      headers: {
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(raw)),
        ...headers,
      },
      body: raw,
      timeoutMs,
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}
