import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Cluster } from '../cluster/cluster.ts';
import type { Container, PodSpec } from '../helm-manifests.ts';

/** A folder of the machine, and where a container sees it. */
export interface Mount {
  readonly source: string;
  readonly destination: string;
  readonly readOnly: boolean;
}

/** Where Kubernetes mounts the account of a pod. */
const accountPath = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * Does what the kubelet does between the API server and a container: reads Secrets and ConfigMaps,
 * expands references.
 */
export class PodInputs {
  readonly #cluster: Cluster;
  readonly #namespace: string;
  readonly #folder: string;

  /** `folder` is where the volumes' contents go. */
  constructor(cluster: Cluster, namespace: string, folder: string) {
    this.#cluster = cluster;
    this.#namespace = namespace;
    this.#folder = folder;
  }

  /**
   * The variables of a container, as `name=value`. A reference to one given earlier is expanded, as
   * the kubelet does.
   */
  async environment({ env = [] }: Container): Promise<string[]> {
    const values = new Map<string, string>();
    for (const { name, value = '', valueFrom } of env) {
      const secret = valueFrom?.secretKeyRef;
      const text = secret === undefined ? value : (await this.#data('secrets', secret.name))[secret.key];
      if (text === undefined) throw new Error(`${name}: the Secret ${secret?.name} has no key ${secret?.key}`);
      values.set(
        name,
        text.replaceAll(/\$\(([\w.-]+)\)/g, (whole, other: string) => values.get(other) ?? whole),
      );
    }
    return [...values].map(([name, value]) => `${name}=${value}`);
  }

  /** The volumes of a container with their contents, and the account where the pod has one. */
  async mounts(spec: PodSpec, { volumeMounts = [] }: Container): Promise<Mount[]> {
    const mounts: Mount[] = [];
    for (const { name, mountPath, readOnly = false } of volumeMounts) {
      const volume = spec.volumes?.find((candidate) => candidate.name === name);
      if (volume === undefined) throw new Error(`there is no volume ${name}`);
      mounts.push({ source: await this.#volume(volume), destination: mountPath, readOnly });
    }
    const { serviceAccountName: account, automountServiceAccountToken: mounted = true } = spec;
    if (account === undefined || !mounted) return mounts;
    const source = await this.#cluster.podAccountFolder(this.#namespace, account);
    await chmod(source, 0o755);
    return [...mounts, { source, destination: accountPath, readOnly: true }];
  }

  async #volume(volume: { name: string; [source: string]: unknown }): Promise<string> {
    const folder = join(this.#folder, volume.name);
    await mkdir(folder, { recursive: true });
    const { secret, configMap } = volume as { secret?: { secretName: string }; configMap?: { name: string } };
    if (secret !== undefined) await write(folder, await this.#data('secrets', secret.secretName));
    else if (configMap !== undefined) await write(folder, await this.#data('configmaps', configMap.name));
    // The kubelet gives an emptyDir to everybody.
    else await chmod(folder, 0o777);
    return folder;
  }

  async #data(kind: 'secrets' | 'configmaps', name: string): Promise<Record<string, string>> {
    const path = `/api/v1/namespaces/${this.#namespace}/${kind}/${name}`;
    const { data = {} } = (await this.#cluster.admin.must('GET', path)) as { data?: Record<string, string> };
    if (kind === 'configmaps') return data;
    return Object.fromEntries(
      Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
    );
  }
}

async function write(folder: string, files: Record<string, string>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
}
