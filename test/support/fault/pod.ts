import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Forwarder } from '../forwarder.ts';
import { RunledgerProcess } from '../runledger-process.ts';
import { until } from '../until.ts';
import { Clock, forgetProcess } from './clock.ts';
import type { Timeline } from './timeline.ts';

export interface PodOptions {
  name: string;
  kind: 'ingest' | 'worker' | 'controller';
  environment: Record<string, string>;
  /** Where its log and clock are. */
  folder: string;
  /** The networks to it and from it, closed when it is gone. */
  links: Record<string, Forwarder>;
  timeline: Timeline;
}

/** Between the end of a process and its restart, in ms. */
const restartPause = 500;

/** A process under a supervisor that restarts it when it ends, as the kubelet does. */
export class Pod {
  readonly name: string;
  readonly links: Record<string, Forwarder>;
  readonly clock: Clock;
  /** Times that the process ended by itself. Each is a defect. */
  crashes = 0;
  readonly #options: PodOptions;
  #process: RunledgerProcess;
  #retired = false;
  #signalled = false;

  /** Starts the process. */
  constructor(options: PodOptions) {
    this.name = options.name;
    this.links = options.links;
    this.clock = new Clock(join(options.folder, `${options.name}.clock`));
    this.#options = options;
    this.#process = this.#spawn();
  }

  async ready(): Promise<void> {
    await until(`${this.name} is ready`, () => this.isReady(), 120_000);
  }

  async isReady(): Promise<boolean> {
    return (await this.#process.readiness()) === 200;
  }

  /** The sum of a metric over its labels. Rejects when the pod does not answer. */
  metric(name: string): Promise<number> {
    return this.#process.metric(name);
  }

  signal(signal: NodeJS.Signals): void {
    if (signal !== 'SIGSTOP' && signal !== 'SIGCONT') this.#signalled = true;
    this.#process.child.process.kill(signal);
  }

  /** Where ingest listens, past the network. */
  get apiPort(): number {
    return Number(this.#options.environment['PORT']);
  }

  /** Ends the pod for good as a Deployment does: SIGTERM, and SIGKILL after the grace period. */
  async retire(graceMs = 30_000): Promise<void> {
    this.#retired = true;
    const { child } = this.#process;
    const killer = setTimeout(() => {
      this.#options.timeline.note(`${this.name} did not stop within its grace period`);
      child.process.kill('SIGKILL');
    }, graceMs);
    await child.kill('SIGTERM');
    clearTimeout(killer);
    for (const link of Object.values(this.links)) await link[Symbol.asyncDispose]();
  }

  #spawn(): RunledgerProcess {
    const { folder, kind, environment } = this.#options;
    const log = openSync(join(folder, `${this.name}.log`), 'a');
    const settings = { ...this.clock.environment, ...environment };
    const process = new RunledgerProcess(kind, settings, { stdio: ['ignore', log, log] });
    closeSync(log);
    this.#signalled = false;
    void this.#restartAfter(process);
    return process;
  }

  async #restartAfter({ child }: RunledgerProcess): Promise<void> {
    const code = await child.exited;
    forgetProcess(child.process.pid);
    if (this.#retired) return;
    if (!this.#signalled) {
      this.crashes += 1;
      this.#options.timeline.note(`${this.name} CRASHED (${child.process.signalCode ?? `exit ${code}`})`);
    }
    await sleep(restartPause);
    if (!this.#retired) this.#process = this.#spawn();
  }
}
