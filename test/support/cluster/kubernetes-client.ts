import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';

export interface KubernetesAnswer {
  readonly status: number;
  readonly text: string;
  // Test code reads many kinds of objects: each test says which.
  readonly body: Record<string, unknown>;
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Any Kubernetes object that has a name. */
export interface NamedObject {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly [field: string]: unknown;
}

/** Raw calls to an API server as one user, over kept connections. */
export class KubernetesClient {
  readonly #url: string;
  readonly #token: string;
  readonly #agent: Agent;

  constructor(url: string, ca: string, token: string) {
    this.#url = url;
    this.#token = token;
    this.#agent = new Agent({ connect: { ca }, connections: 8, keepAliveTimeout: 500 });
  }

  /** The answer, whatever its status. Rejects when there is none. */
  call(method: Method, path: string, body?: unknown): Promise<KubernetesAnswer> {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    return this.#send(method, path, type, body === undefined ? null : JSON.stringify(body));
  }

  /** What `kubectl apply --server-side` does with a manifest, at the path of its object. */
  async apply(path: string, yaml: string): Promise<KubernetesAnswer['body']> {
    const target = `${path}?fieldManager=kubectl&force=true`;
    const { status, body } = await this.#send('PATCH', target, 'application/apply-patch+yaml', yaml);
    if (status < 300) return body;
    throw new Error(`apply ${path}: ${status} ${JSON.stringify(body['message'])}`);
  }

  async #send(method: Method, path: string, type: string, body: string | null): Promise<KubernetesAnswer> {
    const answer = await request(`${this.#url}${path}`, {
      method,
      dispatcher: this.#agent,
      headers: { authorization: `Bearer ${this.#token}`, 'content-type': type },
      body,
    });
    const text = await answer.body.text();
    return { status: answer.statusCode, text, body: text.startsWith('{') ? JSON.parse(text) : {} };
  }

  /** Like `call`, but any status that is not a success is an Error. */
  async must(method: Method, path: string, body?: unknown): Promise<KubernetesAnswer['body']> {
    const answer = await this.call(method, path, body);
    if (answer.status < 300) return answer.body;
    throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body['message'])}`);
  }

  /** Puts the object there: as a new one, or in place of the one of that name. */
  async put(collection: string, object: NamedObject): Promise<void> {
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
