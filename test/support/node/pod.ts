import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Cluster } from '../cluster/cluster.ts';
import { Child } from '../child.ts';
import type { PodSpec } from '../helm-manifests.ts';
import { runContainer, type RunningContainer } from './container.ts';
import type { Image } from './image.ts';
import type { PodAddress } from './network.ts';
import { PodInputs } from './pod-inputs.ts';

/** What a pod finds around it. */
export interface Surroundings {
  readonly cluster: Cluster;
  readonly namespace: string;
  readonly image: Image;
  readonly place: PodAddress;
  /** Name → address of Services. */
  readonly hosts: Readonly<Record<string, string>>;
  /** A UNIX socket that leads to the API server. */
  readonly apiServerSocket: string;
}

/**
 * A pod of the cluster, run on this machine: its init containers to their end, then its first
 * container.
 */
export class Pod {
  readonly place: PodAddress;
  readonly #container: RunningContainer;
  readonly #folder: string;
  readonly #apiServer: Child | undefined;

  private constructor(place: PodAddress, container: RunningContainer, folder: string, apiServer: Child | undefined) {
    this.place = place;
    this.#container = container;
    this.#folder = folder;
    this.#apiServer = apiServer;
  }

  /** Rejects when an init container fails. */
  static async start(spec: PodSpec, surroundings: Surroundings): Promise<Pod> {
    const { cluster, namespace, image, place, hosts } = surroundings;
    const folder = await mkdtemp(join(tmpdir(), 'runledger-pod-'));
    const inputs = new PodInputs(cluster, namespace, join(folder, 'volumes'));
    const run = async (container: PodSpec['containers'][number]): Promise<RunningContainer> =>
      runContainer(spec, container, {
        image,
        folder: join(folder, container.name),
        network: place.namespace,
        environment: [...apiServerVariables, ...(await inputs.environment(container))],
        mounts: await inputs.mounts(spec, container),
        hosts,
      });
    for (const container of spec.initContainers ?? []) {
      const { process } = await run(container);
      const code = await process.exited;
      if (code !== 0) throw new Error(`${container.name} ended with ${code}:\n${process.output.join('\n')}`);
    }
    const [main] = spec.containers;
    if (main === undefined) throw new Error('the pod has no container');
    const withAccount = spec.automountServiceAccountToken !== false;
    const apiServer = withAccount ? await relay(place, '127.0.0.1:443', [surroundings.apiServerSocket]) : undefined;
    return new Pod(place, await run(main), folder, apiServer);
  }

  /** What the container has printed. */
  get log(): string {
    return this.#container.process.output.join('\n');
  }

  /** Resolves with the container's exit code, when it ends by itself. */
  get exited(): Promise<number | null> {
    return this.#container.process.exited;
  }

  /** Stops the container as the kubelet does; resolves with its exit code. */
  terminate(): Promise<number | null> {
    return this.#container.stop('SIGTERM');
  }

  /** Leaves nothing of the pod, whatever state it is in. */
  async remove(): Promise<void> {
    await this.#container.destroy();
    await this.#apiServer?.kill('SIGKILL');
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/**
 * The kubelet tells every pod where the API server is. Its certificate here is for this address.
 */
const apiServerVariables = ['KUBERNETES_SERVICE_HOST=127.0.0.1', 'KUBERNETES_SERVICE_PORT=443'];

/**
 * Passes connections on: inside a network namespace, or outside of all. Resolves when it listens.
 */
export async function relay(place: PodAddress | undefined, from: string, to: readonly string[]): Promise<Child> {
  const args = [join(import.meta.dirname, 'forward.ts'), from, ...to];
  const child = place === undefined ? new Child(process.execPath, args) : inside(place, process.execPath, args);
  await child.line(/forwarding/);
  return child;
}

/** Starts a program of this machine inside a network namespace. */
export function inside(place: PodAddress, program: string, args: string[], user?: { uid: number; gid: number }): Child {
  const as = user === undefined ? [] : ['setpriv', `--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups'];
  return new Child('ip', ['netns', 'exec', place.namespace, ...as, program, ...args]);
}
