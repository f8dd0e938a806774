import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { parse } from 'yaml';
import { Child } from '../child.ts';
import { findBinaries } from '../cluster/binaries.ts';
import { KubernetesClient } from '../cluster/kubernetes-client.ts';
import type { RowSource } from '../fault/audit.ts';
import { findHelm, findKubectl } from '../helm-binaries.ts';
import { helm, repository } from '../helm.ts';

const scripts = join(repository, 'test/node');

/** Why this machine cannot run the nodes, in one line; undefined when it can. */
export async function reasonNotToRun(): Promise<string | undefined> {
  const failed = await promisify(execFile)(join(scripts, 'cluster/can-run.sh')).then(
    () => undefined,
    (error: Error & { stderr?: string }) => error.stderr?.trim() || error.message,
  );
  return failed?.split('\n').at(-1);
}

/** What a container uses, and the memory that it requests in Mi. */
export interface Use {
  readonly pod: string;
  readonly milliCores: number;
  readonly mebibytes: number;
  readonly requested: number;
}

/** The fields of the kubelet's summary that {@link Use} needs. */
interface Stats {
  readonly podRef: { name: string; namespace: string };
  readonly containers?: {
    cpu: { usageNanoCores: number };
    memory: { workingSetBytes: number };
  }[];
}

interface Kubeconfig {
  readonly clusters: [{ cluster: { server: string; 'certificate-authority-data': string } }];
  readonly users: [{ user: { token: string } }];
}

export interface PodState {
  readonly name: string;
  readonly node: string;
  readonly address: string;
  readonly ready: boolean;
  readonly restarts: number;
}

/**
 * A Kubernetes cluster of two real nodes, n1 and n2, on this machine: API server, controllers,
 * scheduler; on each node containerd, kubelet, kube-proxy, network policies, DNS and Traefik. All
 * of it runs in namespaces of its own and ends with this process.
 */
export class Kubernetes {
  /** Calls as the administrator. */
  readonly api: KubernetesClient;
  readonly #process: Child;
  readonly #folder: string;
  readonly #kubectl: string;
  /** With the folders of kubectl and helm in its PATH. */
  readonly #environment: NodeJS.ProcessEnv;
  readonly #images: string;
  readonly #subnet: string;

  private constructor(
    api: KubernetesClient,
    process: Child,
    folder: string,
    kubectl: string,
    environment: NodeJS.ProcessEnv,
    images: string,
    subnet: string,
  ) {
    this.api = api;
    this.#process = process;
    this.#folder = folder;
    this.#kubectl = kubectl;
    this.#environment = environment;
    this.#images = images;
    this.#subnet = subnet;
  }

  /** Builds what is missing of programs and images, and resolves when the nodes are ready. */
  static async start(): Promise<Kubernetes> {
    const kubectl = await findKubectl();
    const controlPlane = dirname((await findBinaries()).apiServer);
    const path = [kubectl, await findHelm()].map((program) => dirname(program)).join(':');
    const environment = { ...process.env, NODE: process.execPath, PATH: `${path}:${process.env['PATH']}` };
    const preparation = new Child(join(scripts, 'prepare.sh'), [controlPlane], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: environment,
    });
    const [programs = '', images = ''] = (await preparation.line(/^\//)).split(' ');
    // An open stdin keeps the cluster running: the end of this process, however it comes, ends it.
    const child = new Child(join(scripts, 'cluster/up.sh'), [programs, images], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: environment,
    });
    const number = (await child.line(/^ready \d+$/)).slice('ready '.length);
    const folder = `/tmp/runledger-node-${number}`;
    const { clusters, users } = parse(await readFile(join(folder, 'admin.kubeconfig'), 'utf8')) as Kubeconfig;
    const { server, 'certificate-authority-data': ca } = clusters[0].cluster;
    const api = new KubernetesClient(server, Buffer.from(ca, 'base64').toString(), users[0].user.token);
    return new Kubernetes(api, child, folder, kubectl, environment, images, `198.18.${number}`);
  }

  /** The address of a node, for callers outside of the cluster: `n1` or `n2`. */
  addressOf(node: string): string {
    return `${this.#subnet}.${10 + Number(node.slice(1))}`;
  }

  /** The file that the nodes have an image from, by the last part of its name. */
  imageArchive(name: string): string {
    return join(this.#images, `${name}.tar`);
  }

  /** The kubeconfig of the administrator. */
  get kubeconfig(): string {
    return join(this.#folder, 'admin.kubeconfig');
  }

  /** Runs kubectl as the administrator; resolves with stdout. */
  async kubectl(...args: string[]): Promise<string> {
    const { stdout } = await promisify(execFile)(this.#kubectl, ['--kubeconfig', this.kubeconfig, ...args], {
      maxBuffer: 64 * 1024 * 1024,
    });
    return stdout;
  }

  /** Runs helm as the administrator; resolves with stdout. */
  helm(...args: string[]): Promise<string> {
    return helm([...args, '--kubeconfig', this.kubeconfig]);
  }

  /** Runs a script with kubectl and helm in a checkout; resolves with stdout. */
  async shell(script: string): Promise<string> {
    const prelude = "set -eo pipefail; trap 'kill $(jobs -p) 2> /dev/null || true' EXIT";
    const { stdout } = await promisify(execFile)('bash', ['-c', `${prelude}\n${script}`], {
      cwd: repository,
      env: { ...this.#environment, KUBECONFIG: this.kubeconfig },
    });
    return stdout;
  }

  /** Applies manifests, as `kubectl apply --server-side` does. */
  async apply(...manifests: object[]): Promise<void> {
    const list = { apiVersion: 'v1', kind: 'List', items: manifests };
    const applied = promisify(execFile)(this.#kubectl, [
      '--kubeconfig',
      this.kubeconfig,
      'apply',
      '--server-side',
      '--filename',
      '-',
    ]);
    applied.child.stdin?.end(JSON.stringify(list));
    await applied;
  }

  /** A connection to the bundled Postgres of a release, through the API server. */
  async postgres(namespace: string): Promise<RowSource & { readonly url: string; close(): Promise<void> }> {
    const password = await this.kubectl(
      'get',
      'secret',
      'runledger-postgresql',
      '--namespace',
      namespace,
      '-o',
      'go-template={{.data.password}}',
    );
    const forward = new Child(this.#kubectl, [
      '--kubeconfig',
      this.kubeconfig,
      'port-forward',
      '--namespace',
      namespace,
      'service/runledger-postgresql',
      ':5432',
    ]);
    const port = /:(\d+) ->/.exec(await forward.line(/^Forwarding from/))?.[1];
    const url = `postgres://runledger:${encodeURIComponent(Buffer.from(password, 'base64').toString())}@127.0.0.1:${port}/runledger`;
    const client = new Client(url);
    await client.connect();
    return {
      url,
      query: async <Row extends object>(sql: string, values?: unknown[]) => (await client.query<Row>(sql, values)).rows,
      close: async () => {
        await client.end();
        await forward.kill('SIGKILL');
      },
    };
  }

  /**
   * Every object of the cluster as `Kind namespace/name`, except those that controllers own.
   */
  async objects(): Promise<string[]> {
    const kinds = (await this.kubectl('api-resources', '--verbs=list', '-o', 'name')).trim().split('\n');
    const own = /^(events|leases|endpoint|componentstatuses|controllerrevisions)/;
    const template = '{{range .items}}{{.kind}} {{.metadata.namespace}}/{{.metadata.name}}{{"\\n"}}{{end}}';
    const wanted = kinds.filter((kind) => !own.test(kind)).join();
    const names = await this.kubectl('get', wanted, '--all-namespaces', '-o', `go-template=${template}`);
    const lines = names.replaceAll('<no value>', '').trim().split('\n');
    return lines.filter((line) => !/\/(kube-root-ca\.crt|default)$/.test(line)).sort();
  }

  /** The pods of a namespace that are not about to stop. */
  async pods(namespace: string): Promise<PodState[]> {
    const ask = (): Promise<unknown> => this.api.must('GET', `/api/v1/namespaces/${namespace}/pods`);
    // A starved API server closes connections: once more, as kubectl does.
    const { items } = (await ask().catch(ask)) as {
      items: {
        metadata: { name: string; deletionTimestamp?: string };
        spec: { nodeName: string };
        status: { podIP: string; containerStatuses?: { restartCount: number; ready: boolean }[] };
      }[];
    };
    return items
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ metadata: { name }, spec: { nodeName: node }, status: { podIP: address, containerStatuses = [] } }) => ({
        name,
        node,
        address,
        ready: containerStatuses.length > 0 && containerStatuses.every(({ ready }) => ready),
        restarts: containerStatuses.reduce((sum, { restartCount }) => sum + restartCount, 0),
      }));
  }

  /** What the containers of a namespace use just now. */
  async use(namespace: string): Promise<Use[]> {
    const used: Use[] = [];
    const requests = new Map<string, number>();
    const { items } = (await this.api.must('GET', `/api/v1/namespaces/${namespace}/pods`)) as {
      items: {
        metadata: { name: string };
        spec: { containers: [{ resources: { requests: { memory: string } } }] };
      }[];
    };
    for (const { metadata, spec } of items) {
      requests.set(metadata.name, Number.parseInt(spec.containers[0].resources.requests.memory, 10));
    }
    for (const node of ['n1', 'n2']) {
      const { pods } = (await this.api.must('GET', `/api/v1/nodes/${node}/proxy/stats/summary`)) as { pods: Stats[] };
      for (const { podRef, containers } of pods.filter((pod) => pod.podRef.namespace === namespace)) {
        for (const { cpu, memory } of containers ?? []) {
          const mebibytes = Math.round(memory.workingSetBytes / 2 ** 20);
          const requested = requests.get(podRef.name) ?? 0;
          used.push({ pod: podRef.name, milliCores: Math.round(cpu.usageNanoCores / 1e6), mebibytes, requested });
        }
      }
    }
    return used;
  }

  /** How many pods of a Service are ready, as its EndpointSlices say. */
  async endpoints(namespace: string, service: string): Promise<number> {
    const selector = `labelSelector=kubernetes.io/service-name=${service}`;
    const path = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices?${selector}`;
    const { items } = (await this.api.must('GET', path)) as {
      items: { endpoints: { conditions: { ready: boolean } }[] }[];
    };
    return items.flatMap(({ endpoints }) => endpoints).filter(({ conditions }) => conditions.ready).length;
  }

  /** Stops the processes of a pod in their tracks, as a hanging event loop does. */
  async freeze(namespace: string, pod: string): Promise<void> {
    const uid = await this.kubectl('get', 'pod', pod, '--namespace', namespace, '-o', 'jsonpath={.metadata.uid}');
    await promisify(execFile)('bash', [
      '-c',
      `grep -l 'pod${uid}' /proc/[0-9]*/cgroup 2> /dev/null | cut -d/ -f3 | xargs kill -STOP`,
    ]);
  }

  /** Ends every process, and removes every trace on the machine. */
  async stop(): Promise<void> {
    this.api.close();
    this.#process.process.stdin?.end();
    await this.#process.exited;
  }
}
