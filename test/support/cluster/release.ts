import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Cluster } from './cluster.ts';
import { chart, helm, valuesOf } from '../helm.ts';
import { parseManifests, type Manifest } from '../helm-manifests.ts';

/** A release of the chart in a namespace of its own, in the real API server. */
export class Release {
  readonly name = 'runledger';
  readonly namespace: string;
  /** A kubeconfig of the administrator, for helm and kubectl. */
  readonly kubeconfig: string;
  readonly #folder: string;
  readonly #cluster: Cluster;

  private constructor(cluster: Cluster, namespace: string, folder: string) {
    this.#cluster = cluster;
    this.namespace = namespace;
    this.#folder = folder;
    this.kubeconfig = join(folder, 'kubeconfig');
  }

  /**
   * Makes the namespace: pods that would not meet the Pod Security Standard `restricted` are
   * refused in it.
   */
  static async prepare(cluster: Cluster): Promise<Release> {
    const namespace = `chart-${randomBytes(4).toString('hex')}`;
    const folder = await mkdtemp(join(tmpdir(), 'runledger-release-'));
    const release = new Release(cluster, namespace, folder);
    await writeFile(release.kubeconfig, cluster.kubeconfig(namespace));
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
    await cluster.admin.must('POST', '/api/v1/namespaces', { metadata: { name: namespace, labels } });
    return release;
  }

  /**
   * The values of a shape. The tokens' namespace, where it has one, is kept apart from those of
   * other releases.
   */
  async valuesOf(shape: string): Promise<string[]> {
    const own = (await readFile(valuesOf(shape), 'utf8')).includes('namespace: runledger-tokens');
    return ['--values', valuesOf(shape), ...(own ? ['--set', `tokens.namespace=${this.tokensNamespace}`] : [])];
  }

  get tokensNamespace(): string {
    return `${this.namespace}-tokens`;
  }

  /** Runs helm in the release's namespace. */
  helm(...args: string[]): Promise<string> {
    const home = { HELM_CACHE_HOME: this.#folder, HELM_CONFIG_HOME: this.#folder, HELM_DATA_HOME: this.#folder };
    return helm([...args, '--namespace', this.namespace, '--kubeconfig', this.kubeconfig], home);
  }

  /** What an installation would create, for this cluster. */
  async template(...args: string[]): Promise<Manifest[]> {
    return parseManifests(await this.helm('template', this.name, chart, '--dry-run=server', ...args));
  }

  /** It takes the resource definitions over, which the API server has from another release. */
  install(...args: string[]): Promise<string> {
    return this.helm('install', this.name, chart, '--take-ownership', ...args);
  }

  upgrade(...args: string[]): Promise<string> {
    return this.helm('upgrade', this.name, chart, ...args);
  }

  /** The objects of the release, as helm has sent them. */
  async manifests(): Promise<Manifest[]> {
    return parseManifests(await this.helm('get', 'manifest', this.name));
  }

  /** Every object of the cluster with the release's label, as `kind namespace/name`. */
  async objects(): Promise<string[]> {
    const found = await Promise.all((await this.#collections()).map((path) => this.#labelled(path)));
    return found.flat().sort();
  }

  async #collections(): Promise<string[]> {
    const { groups } = (await this.#cluster.admin.must('GET', '/apis')) as {
      groups: { preferredVersion: { groupVersion: string } }[];
    };
    const roots = ['/api/v1', ...groups.map(({ preferredVersion }) => `/apis/${preferredVersion.groupVersion}`)];
    const lists = roots.map(async (root) => {
      const { resources } = (await this.#cluster.admin.must('GET', root)) as {
        resources: { name: string; verbs: string[] }[];
      };
      const listable = resources.filter(({ name, verbs }) => verbs.includes('list') && !name.includes('/'));
      return listable.map(({ name }) => `${root}/${name}`);
    });
    return (await Promise.all(lists)).flat();
  }

  async #labelled(path: string): Promise<string[]> {
    const selector = encodeURIComponent(`app.kubernetes.io/instance=${this.name}`);
    const { status, body } = await this.#cluster.admin.call('GET', `${path}?labelSelector=${selector}`);
    if (status !== 200) return [];
    const { items } = body as {
      items: { metadata: { name: string; namespace?: string; deletionTimestamp?: string } }[];
    };
    const own = new Set([this.namespace, this.tokensNamespace]);
    return (
      items
        .filter(({ metadata }) => own.has(metadata.namespace ?? metadata.name))
        // Namespaces go when a controller has emptied them, and none runs here.
        .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
        .map(({ metadata }) => `${path.split('/').at(-1)} ${metadata.namespace ?? ''}/${metadata.name}`)
    );
  }

  async cleanUp(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }
}
