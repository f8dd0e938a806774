import { Agent, request } from 'node:https';
import type { IncomingMessage } from 'node:http';

export interface ConnectionOptions {
  /** The `https://` address of Runledger. */
  readonly url: URL;
  readonly token: string;
  /** Certificates (PEM) to trust in place of the well-known ones. */
  readonly ca?: string | undefined;
  /** Longest silence of the other side, in ms. */
  readonly timeoutMs: number;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface Sent {
  readonly method?: 'GET' | 'POST';
  /** Below the path of the address, with its query. */
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** Longest answer that is read, in characters. */
const longestAnswer = 16 * 1_024 * 1_024;

/** A caller of Runledger on one kept-alive connection. It follows no redirect. */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #agent: Agent;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#agent = new Agent({ keepAlive: true, maxSockets: 1, ca: options.ca });
  }

  /** Resolves with the answer, whatever its status. Rejects with Node's error without one. */
  async send(sent: Sent): Promise<Answer> {
    const response = await this.open(sent);
    let body = '';
    for await (const chunk of response.setEncoding('utf8')) {
      body += String(chunk);
      if (body.length > longestAnswer) throw new Error('the answer is too long');
    }
    return { status: response.statusCode ?? 0, headers: response.headers, body };
  }

  /** Resolves with the answer as soon as its headers are there. */
  open({ method = 'GET', path, headers = {}, body }: Sent): Promise<IncomingMessage> {
    const { url, token, timeoutMs } = this.#options;
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    return new Promise((resolve, reject) => {
      const outgoing = request(
        new URL(url.pathname.replace(/\/$/, '') + path, url),
        { method, agent: this.#agent, timeout: timeoutMs, headers: { token, ...length, ...headers } },
        resolve,
      );
      outgoing.on('error', reject);
      outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer within ${timeoutMs} ms`)));
      outgoing.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}
