import { Repeating } from '../../../internal/kit/async/repeating.ts';
import { ApiClient } from '../api-client.ts';
import type { Pod } from './pod.ts';

/** Between two looks at a pod's readiness, in ms. */
const probeInterval = 500;

/** What a caller is told. `status` is 0 without an answer. */
export interface Reply {
  status: number;
  body: string;
}

const noAnswer: Reply = { status: 0, body: '' };

/**
 * Spreads requests over the ingest pods that are ready, as the Service and the proxy of a cluster
 * do. It never sends a request twice.
 */
export class Balancer {
  readonly #token: string;
  readonly #backends = new Map<Pod, { client: ApiClient; ready: boolean }>();
  readonly #probing = new Repeating(async () => {
    const probes = [...this.#backends].map(async ([pod, backend]) => (backend.ready = await pod.isReady()));
    await Promise.all(probes);
    return probeInterval;
  });
  #turn = 0;

  constructor(token: string) {
    this.#token = token;
    this.#probing.start();
  }

  async add(pod: Pod): Promise<void> {
    const headers = { token: this.#token, 'x-forwarded-proto': 'https' };
    const client = new ApiClient(`http://127.0.0.1:${pod.links['front']?.port}`, headers, { maxSockets: 400 });
    this.#backends.set(pod, { client, ready: await pod.isReady() });
  }

  remove(pod: Pod): void {
    this.#backends.get(pod)?.client.close();
    this.#backends.delete(pod);
  }

  async stop(): Promise<void> {
    await this.#probing.stop();
    for (const pod of this.#backends.keys()) this.remove(pod);
  }

  /**
   * Posts to a path of one pod, ready or not, as a caller does whose connection outlives the
   * readiness of its pod. Never rejects.
   */
  async registerAt(
    pod: Pod,
    body: string,
    headers: Record<string, string>,
    timeoutMs: number,
    path?: string,
  ): Promise<Reply> {
    const client = this.#backends.get(pod)?.client;
    return client?.register(body, headers, timeoutMs, path).catch(() => noAnswer) ?? noAnswer;
  }

  /** Posts to a path of the next pod: that of single events, unless given. Never rejects. */
  async register(body: string, headers: Record<string, string>, timeoutMs: number, path?: string): Promise<Reply> {
    const ready = [...this.#backends.values()].filter((backend) => backend.ready);
    this.#turn += 1;
    const backend = ready[this.#turn % ready.length];
    return backend?.client.register(body, headers, timeoutMs, path).catch(() => noAnswer) ?? noAnswer;
  }
}
