import { ApiClient } from '../api-client.ts';

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

/** Raw calls to an API server as one user. */
export class KubernetesClient {
  readonly #api: ApiClient;

  constructor(url: string, ca: string, token: string) {
    this.#api = new ApiClient(url, { authorization: `Bearer ${token}` }, { ca, maxSockets: 8 });
  }

  /** The answer, whatever its status. Rejects when there is none. A text is sent as it is. */
  async call(method: Method, path: string, body?: unknown, type = 'application/json'): Promise<KubernetesAnswer> {
    const headers = { 'content-type': method === 'PATCH' ? type.replace('/json', '/merge-patch+json') : type };
    const content = typeof body === 'string' ? body : JSON.stringify(body);
    const answer = await this.#api.send({ method, path, headers, body: content });
    return { status: answer.status, text: answer.body, body: answer.body.startsWith('{') ? answer.json() : {} };
  }

  /** The body of the answer. Rejects unless it is a success. */
  async must(...call: Parameters<KubernetesClient['call']>): Promise<KubernetesAnswer['body']> {
    const { status, body } = await this.call(...call);
    if (status < 300) return body;
    throw new Error(`${call[0]} ${call[1]}: ${status} ${JSON.stringify(body['message'])}`);
  }

  /** Applies a manifest as `kubectl apply --server-side` does, at the path of its object. */
  apply(path: string, yaml: string): Promise<KubernetesAnswer['body']> {
    return this.must('PATCH', `${path}?fieldManager=kubectl&force=true`, yaml, 'application/apply-patch+yaml');
  }

  /** Makes the object, or replaces the one of that name. */
  async put(collection: string, object: NamedObject): Promise<void> {
    const { status } = await this.call('POST', collection, object);
    if (status === 409) await this.must('PUT', `${collection}/${object.metadata.name}`, object);
    else if (status >= 300) await this.must('POST', collection, object);
  }

  close(): void {
    this.#api.close();
  }
}
