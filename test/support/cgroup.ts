import { existsSync, rmdirSync } from 'node:fs';
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from './until.ts';

/** The names of the files of one version of cgroups, and where groups with a limit are. */
interface Layout {
  folder: string;
  limit: string;
  peak: string;
  kills: string;
}

const root = '/sys/fs/cgroup';
const v1: Layout = {
  folder: join(root, 'memory'),
  limit: 'memory.limit_in_bytes',
  peak: 'memory.max_usage_in_bytes',
  kills: 'memory.oom_control',
};
const v2: Layout = {
  folder: root,
  limit: 'memory.max',
  peak: 'memory.peak',
  kills: 'memory.events',
};

let groups = 0;

/**
 * A limit of memory for processes of a test, as the kubelet sets it for a container: the kernel
 * kills what goes beyond it. Needs root, and version 1 or 2 of cgroups.
 */
export class Cgroup implements AsyncDisposable {
  readonly bytes: number;
  readonly #layout: Layout;
  readonly #folder: string;
  readonly #removeAtExit = (): void => {
    if (existsSync(this.#folder)) rmdirSync(this.#folder);
  };

  private constructor(layout: Layout, folder: string, bytes: number) {
    this.#layout = layout;
    this.#folder = folder;
    this.bytes = bytes;
    process.once('exit', this.#removeAtExit);
  }

  /** Undefined where this process may not make groups: nothing is limited then. */
  static async create(bytes: number): Promise<Cgroup | undefined> {
    const layout = existsSync(join(v1.folder, v1.limit)) ? v1 : v2;
    const folder = join(layout.folder, `runledger-test-${process.pid}-${(groups += 1)}`);
    try {
      if (layout === v2) await writeFile(join(root, 'cgroup.subtree_control'), '+memory');
      await mkdir(folder);
      const group = new Cgroup(layout, folder, bytes);
      await group.#limit();
      return group;
    } catch {
      return undefined;
    }
  }

  /** The command that starts a command as a member of the group, without another process. */
  command(command: string, args: readonly string[]): [command: string, args: string[]] {
    const join = 'echo $$ > "$0/cgroup.procs" && exec "$@"';
    return ['/bin/sh', ['-c', join, this.#folder, command, ...args]];
  }

  /** Most memory that the group has had, in bytes, with its part of the page cache. */
  async peak(): Promise<number> {
    return Number(await this.#read(this.#layout.peak));
  }

  /** How often the kernel has killed a process of the group for its memory. */
  async kills(): Promise<number> {
    return Number(/^oom_kill (\d+)$/m.exec(await this.#read(this.#layout.kills))?.[1] ?? 0);
  }

  /** Removes the group, once its processes have ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    const removed = (): Promise<boolean> =>
      rmdir(this.#folder).then(
        () => true,
        () => false,
      );
    await until('the control group is empty', removed);
    process.off('exit', this.#removeAtExit);
  }

  async #limit(): Promise<void> {
    await writeFile(join(this.#folder, this.#layout.limit), String(this.bytes));
    // Where the kernel counts swap, the limit covers it too: a container has none.
    const [swap, most] = this.#layout === v1 ? ['memory.memsw.limit_in_bytes', this.bytes] : ['memory.swap.max', 0];
    await writeFile(join(this.#folder, swap), String(most)).catch(() => undefined);
  }

  #read(file: string): Promise<string> {
    return readFile(join(this.#folder, file), 'utf8');
  }
}
