import { join } from 'node:path';
import type { Cgroup } from '../../support/cgroup.ts';
import { Child } from '../../support/child.ts';
import { until } from '../../support/until.ts';
import { environmentOfImage, nodeOptionsOfImage } from '../../support/image-environment.ts';
import { cpuTime, residentMemory } from './cpu.ts';
import { tuned } from '../../support/tuned.ts';

export const root = join(import.meta.dirname, '../../..');

/** The variables of the image; baselines run with its options of Node, as Runledger does. */
const image = {
  ...environmentOfImage(),
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? join(root, '.cache/node'),
  PATH: process.env['PATH'],
};

/** A process under measurement. */
export class Program {
  readonly pid: number;
  readonly #child: Child;

  private constructor(child: Child, pid: number) {
    this.#child = child;
    this.pid = pid;
  }

  /**
   * Runs a program as the image does, from the root of the project. `options`: more of Node.
   * `args`: those of the program. `group`: its limit of memory.
   */
  static start(
    main: string,
    environment: Record<string, string>,
    options: readonly string[] = [],
    args: readonly string[] = [],
    group?: Cgroup,
  ): Program {
    const node = [...nodeOptionsOfImage(), ...options, main, ...args];
    const [command, words] = group?.command(process.execPath, node) ?? [process.execPath, node];
    const child = new Child(command, words, {
      cwd: root,
      env: { ...image, ...tuned(environment) },
    });
    const { pid } = child.process;
    if (pid === undefined) throw new Error(`cannot start ${main}`);
    return new Program(child, pid);
  }

  /**
   * Resolves with its exit code when it has ended by itself, as it does at once without its
   * settings.
   */
  async ended(): Promise<number | null> {
    return this.#child.exited;
  }

  /** What it has printed so far, by line. */
  get output(): readonly string[] {
    return this.#child.output;
  }

  /** Resolves once the address answers with 200. Rejects when the process ends before. */
  async answers(url: string): Promise<void> {
    const ok = until(url, async () => ((await statusOf(url)) === 200 ? true : undefined), 30_000);
    await Promise.race([ok, this.#endsEarly()]);
  }

  /** Resolves once the process has printed it. */
  async says(pattern: RegExp): Promise<void> {
    await this.#child.line(pattern);
  }

  /** CPU time used so far, in ms. */
  cpu(): Promise<number> {
    return cpuTime(this.pid);
  }

  /** In bytes. */
  memory(which: 'VmRSS' | 'VmHWM'): Promise<number> {
    return residentMemory(this.pid, which);
  }

  /** Ends it as Kubernetes does. Only so does it keep its compile cache. */
  async stop(): Promise<void> {
    await this.#child.kill('SIGTERM');
  }

  /** Stops it where it is, until it is thawed. */
  freeze(): void {
    process.kill(this.pid, 'SIGSTOP');
  }

  thaw(): void {
    process.kill(this.pid, 'SIGCONT');
  }

  async kill(): Promise<void> {
    await this.#child.kill('SIGKILL');
  }

  async #endsEarly(): Promise<never> {
    const code = await this.#child.exited;
    throw new Error(`a process ended with ${code}:\n${this.#child.output.slice(-20).join('\n')}`);
  }
}

async function statusOf(url: string): Promise<number | undefined> {
  const response = await fetch(url, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined);
  await response?.body?.cancel();
  return response?.status;
}
