import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Child } from '../child.ts';
import type { Container as ContainerSpec, PodSpec } from '../helm-manifests.ts';
import type { Image } from './image.ts';
import type { Mount } from './pod-inputs.ts';
import { command } from './programs.ts';

export interface ContainerOptions {
  readonly image: Image;
  /** A folder for what belongs to the container. */
  readonly folder: string;
  /** The name of its network namespace. */
  readonly network: string;
  readonly environment: readonly string[];
  readonly mounts: readonly Mount[];
  /** Name → address, for /etc/hosts. */
  readonly hosts: Readonly<Record<string, string>>;
}

interface Runtime {
  process: Record<string, unknown>;
  root: unknown;
  hostname: string;
  mounts: Record<string, unknown>[];
  linux: { namespaces: { type: string; path?: string }[]; resources: Record<string, unknown> };
}

/** A container that runs by runc. */
export class RunningContainer {
  readonly process: Child;
  readonly #id: string;

  constructor(process: Child, id: string) {
    this.process = process;
    this.#id = id;
  }

  /** Sends a signal to the container's first process; resolves with its exit code. */
  stop(signal: NodeJS.Signals): Promise<number | null> {
    return this.process.kill(signal);
  }

  /** Ends it at once, whatever state it is in. Safe when it has ended. */
  async destroy(): Promise<void> {
    await command('runc', 'delete', '--force', this.#id).catch(() => undefined);
    await this.process.exited;
  }
}

/**
 * Runs a container of a pod by runc, with the user, rights, limits and read-only root that its spec
 * says.
 */
export async function runContainer(
  pod: PodSpec,
  spec: ContainerSpec,
  options: ContainerOptions,
): Promise<RunningContainer> {
  await mkdir(options.folder, { recursive: true });
  await command('runc', 'spec', '--bundle', options.folder);
  const file = join(options.folder, 'config.json');
  const runtime = JSON.parse(await readFile(file, 'utf8')) as Runtime;
  const hosts = join(options.folder, 'hosts');
  const names = Object.entries({ localhost: '127.0.0.1', ...options.hosts });
  await writeFile(hosts, names.map(([name, address]) => `${address} ${name}\n`).join(''));
  const mounts = [...options.mounts, { source: hosts, destination: '/etc/hosts', readOnly: true }];
  await writeFile(file, JSON.stringify(configure(runtime, pod, spec, { ...options, mounts })));
  const id = `runledger-${randomBytes(6).toString('hex')}`;
  return new RunningContainer(new Child('runc', ['run', '--bundle', options.folder, id]), id);
}

function configure(runtime: Runtime, pod: PodSpec, spec: ContainerSpec, options: ContainerOptions): Runtime {
  const { image, network, environment, mounts } = options;
  const security = { ...pod.securityContext, ...spec.securityContext } as {
    runAsUser: number;
    runAsGroup: number;
    fsGroup: number;
    allowPrivilegeEscalation: boolean;
    readOnlyRootFilesystem: boolean;
    capabilities: { drop: string[] };
  };
  if (security.capabilities.drop.join() !== 'ALL') throw new Error('only containers without capabilities are run here');
  const command = [...(spec.command ?? image.config.Entrypoint), ...(spec.args ?? image.config.Cmd)];
  return {
    ...runtime,
    hostname: 'pod',
    root: { path: image.rootfs, readonly: security.readOnlyRootFilesystem },
    process: {
      ...runtime.process,
      terminal: false,
      args: command,
      cwd: image.config.WorkingDir,
      env: [...image.config.Env, ...environment],
      user: { uid: security.runAsUser, gid: security.runAsGroup, additionalGids: [security.fsGroup] },
      noNewPrivileges: !security.allowPrivilegeEscalation,
      capabilities: { bounding: [], effective: [], permitted: [], inheritable: [], ambient: [] },
    },
    mounts: [
      ...runtime.mounts,
      ...mounts.map(({ source, destination, readOnly }) => ({
        source,
        destination,
        type: 'bind',
        options: ['rbind', readOnly ? 'ro' : 'rw', 'nosuid', 'nodev'],
      })),
    ],
    linux: {
      ...runtime.linux,
      namespaces: runtime.linux.namespaces.map((namespace) =>
        namespace.type === 'network' ? { type: 'network', path: `/var/run/netns/${network}` } : namespace,
      ),
      resources: { ...runtime.linux.resources, memory: { limit: bytes(spec.resources?.limits?.['memory'] ?? '') } },
    },
  };
}

/** A memory quantity such as `320Mi`, in bytes. */
function bytes(quantity: string): number {
  const [, number, unit] = /^(\d+)(Ki|Mi|Gi)$/.exec(quantity) ?? [];
  const factor = { Ki: 1024, Mi: 1024 ** 2, Gi: 1024 ** 3 }[unit ?? ''];
  if (factor === undefined) throw new Error(`not a memory limit: ${quantity}`);
  return Number(number) * factor;
}
