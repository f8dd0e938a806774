import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Child } from '../child.ts';
import type { Forwarder } from '../forwarder.ts';
import { until } from '../until.ts';
import { Clock, forgetProcess } from './clock.ts';
import type { Timeline } from './timeline.ts';

export interface PodOptions {
  name: string;
  /** The program, below the repository: `cmd/ingest/main.ts`. */
  main: string;
  environment: Record<string, string>;
  /** Where its log and clock live. */
  folder: string;
  opsPort: number;
  /** The networks that lead to it and from it, closed when it is gone. */
  links: Record<string, Forwarder>;
  timeline: Timeline;
}

/**
 * One process under a supervisor that does what the kubelet does: restart what has ended, and know
 * what is ready.
 */
export class Pod {
  readonly name: string;
  readonly links: Record<string, Forwarder>;
  readonly clock: Clock;
  readonly #options: PodOptions;
  #child: Child | undefined;
  #retired = false;
  #signalled = false;
  /** Times that the process ended without having been told to. Any is a defect. */
  crashes = 0;

  constructor(options: PodOptions) {
    this.name = options.name;
    this.links = options.links;
    this.#options = options;
    this.clock = new Clock(join(options.folder, `${options.name}.clock`));
  }

  /** Starts the process and resolves once it is ready. */
  async start(): Promise<void> {
    this.#spawn();
    await until(`${this.name} is ready`, () => this.isReady(), 120_000);
  }

  /** Asks `/readyz` as the kubelet does: directly, with a second's patience. */
  async isReady(): Promise<boolean> {
    try {
      const signal = AbortSignal.timeout(1_000);
      const response = await fetch(`http://127.0.0.1:${this.#options.opsPort}/readyz`, { signal });
      await response.arrayBuffer();
      return response.status === 200;
    } catch {
      return false;
    }
  }

  /** A figure of `/metrics`, the sum over its labels. Rejects when the pod does not answer. */
  async metric(name: string): Promise<number> {
    const response = await fetch(`http://127.0.0.1:${this.#options.opsPort}/metrics`, {
      signal: AbortSignal.timeout(2_000),
    });
    const lines = (await response.text()).matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'gm'));
    return [...lines].reduce((sum, [, value]) => sum + Number(value), 0);
  }

  signal(signal: NodeJS.Signals): void {
    if (signal !== 'SIGSTOP' && signal !== 'SIGCONT') this.#signalled = true;
    this.#child?.process.kill(signal);
  }

  /** Where ingest listens, past proxy and network. */
  get apiPort(): number {
    return Number(this.#options.environment['PORT']);
  }

  /** Ends the pod for good as a Deployment does: SIGTERM, and SIGKILL after the grace period. */
  async retire(graceMs = 30_000): Promise<void> {
    this.#retired = true;
    const killer = setTimeout(() => {
      this.#options.timeline.note(`${this.name} did not stop within its grace period`);
      void this.#child?.kill('SIGKILL');
    }, graceMs);
    await this.#child?.kill('SIGTERM');
    clearTimeout(killer);
    for (const link of Object.values(this.links)) await link[Symbol.asyncDispose]();
  }

  #spawn(): void {
    const { folder, main, environment } = this.#options;
    const log = openSync(join(folder, `${this.name}.log`), 'a');
    const root = join(import.meta.dirname, '../../..');
    const child = new Child(process.execPath, [main], {
      cwd: root,
      env: { PATH: process.env['PATH'], ...this.clock.environment, ...environment },
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    this.#child = child;
    this.#signalled = false;
    void this.#restartAfter(child);
  }

  async #restartAfter(child: Child): Promise<void> {
    await child.exited;
    const { pid, exitCode, signalCode } = child.process;
    forgetProcess(pid);
    if (this.#retired) return;
    if (!this.#signalled) {
      this.crashes += 1;
      this.#options.timeline.note(`${this.name} CRASHED (${signalCode ?? `exit ${exitCode}`})`);
    }
    await sleep(500);
    if (!this.#retired) this.#spawn();
  }
}
