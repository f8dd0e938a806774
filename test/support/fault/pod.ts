import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../until.ts';
import { Clock, forgetProcess } from './clock.ts';
import type { Link } from './link.ts';
import { reapAtExit } from './reaper.ts';
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
  links: Record<string, Link>;
  timeline: Timeline;
}

/**
 * One process under a supervisor that does what the kubelet does: restart what has ended, and know
 * what is ready.
 */
export class Pod {
  readonly name: string;
  readonly links: Record<string, Link>;
  readonly clock: Clock;
  readonly #options: PodOptions;
  #process: ChildProcess | undefined;
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
    await until(`${this.name} is ready`, async () => ((await this.isReady()) ? true : undefined), 120_000);
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
    this.#process?.kill(signal);
  }

  /** Where ingest listens, past proxy and network. */
  get apiPort(): number {
    return Number(this.#options.environment['PORT']);
  }

  /** Ends the pod for good as a Deployment does: SIGTERM, and SIGKILL after the grace period. */
  async retire(graceMs = 30_000): Promise<void> {
    this.#retired = true;
    const process = this.#process;
    if (process !== undefined && process.exitCode === null && process.signalCode === null) {
      const exited = once(process, 'exit');
      process.kill('SIGTERM');
      const killer = setTimeout(() => {
        this.#options.timeline.note(`${this.name} did not stop within its grace period`);
        process.kill('SIGKILL');
      }, graceMs);
      await exited;
      clearTimeout(killer);
    }
    for (const link of Object.values(this.links)) await link.close();
  }

  #spawn(): void {
    const { folder, main, environment } = this.#options;
    const log = openSync(join(folder, `${this.name}.log`), 'a');
    const root = join(import.meta.dirname, '../../..');
    const child = spawn(process.execPath, [main], {
      cwd: root,
      env: { PATH: process.env['PATH'], ...this.clock.environment, ...environment },
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    reapAtExit(child);
    this.#process = child;
    this.#signalled = false;
    child.once('exit', (code, signal) => {
      forgetProcess(child.pid);
      void this.#ended(code, signal);
    });
  }

  async #ended(code: number | null, signal: string | null): Promise<void> {
    if (this.#retired) return;
    if (!this.#signalled) {
      this.crashes += 1;
      this.#options.timeline.note(`${this.name} CRASHED (${signal ?? `exit ${code}`})`);
    }
    await sleep(500);
    if (!this.#retired) this.#spawn();
  }
}
