import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';

export interface ApiAnswer {
  readonly status: number;
  // Test code reads many kinds of objects: each test says which.
  readonly body: Record<string, unknown>;
}

/** Raw calls to an API server as one user, over kept connections. */
export class ApiClient {
  readonly #url: string;
  readonly #token: string;
  readonly #agent: Agent;

  constructor(url: string, ca: string, token: string) {
    this.#url = url;
    this.#token = token;
    this.#agent = new Agent({ connect: { ca }, connections: 8, keepAliveTimeout: 500 });
  }

  /** The answer, whatever its status. Rejects when there is none. */
  async call(method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: unknown): Promise<ApiAnswer> {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const { statusCode, body: answer } = await request(`${this.#url}${path}`, {
      method,
      dispatcher: this.#agent,
      headers: { authorization: `Bearer ${this.#token}`, 'content-type': type },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await answer.text();
    return { status: statusCode, body: text.startsWith('{') ? JSON.parse(text) : {} };
  }

  /** Like `call`, but any status that is not a success is an Error. */
  async must(method: Parameters<ApiClient['call']>[0], path: string, body?: unknown): Promise<ApiAnswer['body']> {
    const answer = await this.call(method, path, body);
    if (answer.status < 300) return answer.body;
    throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body['message'])}`);
  }

  /** Puts the object there: as a new one, or in place of the one of that name. */
  async put(collection: string, object: { readonly metadata: { readonly name: string } }): Promise<void> {
    const { status } = await this.call('POST', collection, object);
    if (status === 409) await this.must('PUT', `${collection}/${object.metadata.name}`, object);
    else if (status >= 300) await this.must('POST', collection, object);
  }

  /** Resolves when the path answers 200; until then it asks again. */
  async waitFor(path: string, stillWanted: () => boolean, timeoutMs: number): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      const answer = await this.call('GET', path).catch(() => undefined);
      if (answer?.status === 200) return;
      if (!stillWanted() || performance.now() > deadline) throw new Error(`${this.#url}${path} did not become ready`);
      await sleep(50);
    }
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }
}
