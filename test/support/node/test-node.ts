import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Cluster } from '../cluster/cluster.ts';
import { thePod, type Manifest, type PodSpec } from '../helm-manifests.ts';
import { startPostgres, startRedis, type BundledPostgres } from './bundled.ts';
import type { Image } from './image.ts';
import { PodNetwork, type PodAddress } from './network.ts';
import { PodInputs } from './pod-inputs.ts';
import { Pod, relay } from './pod.ts';
import { command } from './programs.ts';
import type { Release } from './release.ts';
import { until } from '../until.ts';

export interface HttpAnswer {
  readonly status: number;
  /** Where a redirect leads; empty without one. */
  readonly location: string;
  readonly body: string;
}

/**
 * Runs what a release has in the API server: its pods by runc, the bundled servers by Debian's,
 * Services by passing connections on. Everything is read back from the API server first.
 */
export class TestNode implements AsyncDisposable {
  readonly network: PodNetwork;
  readonly #cluster: Cluster;
  readonly #release: Release;
  readonly #image: Image;
  readonly #folder: string;
  readonly #services = new Map<string, PodAddress>();
  readonly #hosts: Record<string, string> = {};
  readonly #closers: (() => Promise<unknown>)[] = [];

  private constructor(cluster: Cluster, release: Release, image: Image, network: PodNetwork, folder: string) {
    this.#cluster = cluster;
    this.#release = release;
    this.#image = image;
    this.network = network;
    this.#folder = folder;
  }

  static async start(cluster: Cluster, release: Release, image: Image): Promise<TestNode> {
    const folder = await mkdtemp(join(tmpdir(), 'runledger-node-'));
    const node = new TestNode(cluster, release, image, await PodNetwork.create(), folder);
    await node.#placeServices();
    const apiServer = await relay(undefined, node.#apiServerSocket, [new URL(cluster.url).host]);
    node.#closers.push(() => apiServer.kill('SIGKILL'));
    return node;
  }

  get #apiServerSocket(): string {
    return join(this.#folder, 'api-server.sock');
  }

  /** The object as the API server has it now. */
  async read(path: string): Promise<Manifest> {
    return (await this.#cluster.admin.must('GET', path)) as unknown as Manifest;
  }

  /** The pod that a workload of the release asks for. */
  async podOf(kind: 'deployments' | 'statefulsets', name: string): Promise<PodSpec> {
    const manifest = await this.read(`/apis/apps/v1/namespaces/${this.#release.namespace}/${kind}/${name}`);
    return thePod([manifest], name);
  }

  /** Starts one pod of a Deployment. */
  async startPod(name: string): Promise<Pod> {
    const pod = await this.run(await this.podOf('deployments', name));
    this.#closers.push(() => pod.remove());
    return pod;
  }

  /** Starts a pod of its own. The caller removes it. */
  async run(spec: PodSpec): Promise<Pod> {
    return Pod.start(spec, {
      cluster: this.#cluster,
      namespace: this.#release.namespace,
      image: this.#image,
      place: await this.network.join(),
      hosts: this.#hosts,
      apiServerSocket: this.#apiServerSocket,
    });
  }

  async startRedis(name: string): Promise<void> {
    const place = this.#placeOf(name);
    const server = await startRedis(await this.podOf('statefulsets', name), this.#inputs(name), place);
    this.#closers.push(() => server.stop());
  }

  async startPostgres(name: string): Promise<BundledPostgres> {
    const place = this.#placeOf(name);
    const server = await startPostgres(await this.podOf('statefulsets', name), this.#inputs(name), place);
    this.#closers.push(() => server.stop());
    return server;
  }

  /** Passes connections to the ports of a Service on to pods, as kube-proxy does. */
  async startService(name: string, pods: readonly Pod[], ports: Readonly<Record<number, number>>): Promise<void> {
    const place = this.#placeOf(name);
    for (const [port, target] of Object.entries(ports)) {
      const relayed = await relay(
        place,
        `${place.address}:${port}`,
        pods.map((pod) => `${pod.place.address}:${target}`),
      );
      this.#closers.push(() => relayed.kill('SIGKILL'));
    }
  }

  /** A Service has its address and its name before anything serves it. */
  async #placeServices(): Promise<void> {
    const { namespace } = this.#release;
    const { items } = (await this.#cluster.admin.must('GET', `/api/v1/namespaces/${namespace}/services`)) as {
      items: { metadata: { name: string } }[];
    };
    for (const { metadata } of items) {
      const place = await this.network.join();
      this.#services.set(metadata.name, place);
      this.#hosts[metadata.name] = place.address;
      this.#hosts[`${metadata.name}.${namespace}.svc`] = place.address;
    }
  }

  #placeOf(service: string): PodAddress {
    const place = this.#services.get(service);
    if (place === undefined) throw new Error(`the release has no Service ${service}`);
    return place;
  }

  #inputs(name: string): PodInputs {
    return new PodInputs(this.#cluster, this.#release.namespace, join(this.#folder, name));
  }

  /** Ends with the node, before what was started earlier. */
  endWithNode(close: () => Promise<unknown>): void {
    this.#closers.push(close);
  }

  /** Resolves when a pod's readiness probe says yes. */
  async ready(pod: Pod): Promise<void> {
    const probe = async (): Promise<true | undefined> => {
      const answer = await this.curl(`http://${pod.place.address}:9090/readyz`).catch(() => undefined);
      return answer?.status === 200 ? true : undefined;
    };
    await until('the pod is ready', probe, 30_000).catch((error: unknown) => {
      throw new Error(`not ready:\n${pod.log}`, { cause: error });
    });
  }

  /**
   * Runs `helm test` and, as the kubelet would, the pod that it makes. Resolves with what the pod
   * printed; rejects when it fails.
   */
  async helmTest(): Promise<string> {
    const path = `/api/v1/namespaces/${this.#release.namespace}/pods/${this.#release.name}-test`;
    const passed = this.#release.helm('test', this.#release.name, '--timeout', '90s');
    const spec = await until(
      'helm makes the pod',
      async () => {
        const { status, body } = await this.#cluster.admin.call('GET', path);
        return status === 200 ? (body['spec'] as PodSpec) : undefined;
      },
      20_000,
    );
    const pod = await this.run(spec);
    const phase = (await pod.exited) === 0 ? 'Succeeded' : 'Failed';
    const { log } = pod;
    await pod.remove();
    await this.#cluster.admin.must('PATCH', `${path}/status`, { status: { phase } });
    await passed.catch((error: unknown) => {
      throw new Error(`helm test failed:\n${log}`, { cause: error });
    });
    return log;
  }

  /** A request from the node by curl, with more of its arguments. Redirects are not followed. */
  async curl(url: string, ...args: string[]): Promise<HttpAnswer> {
    const { namespace } = this.network.node;
    const format = '\n%{http_code} %{redirect_url}';
    const output = await command(
      'ip',
      'netns',
      'exec',
      namespace,
      'curl',
      '-s',
      '--max-time',
      '10',
      '-w',
      format,
      ...args,
      url,
    );
    const [, body = '', status, location = ''] = /^([\s\S]*)\n(\d+) (.*)$/.exec(output) ?? [];
    return { status: Number(status), location, body };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const close of this.#closers.splice(0).toReversed()) await close();
    await this.network[Symbol.asyncDispose]();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
