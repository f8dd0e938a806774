import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiClient } from './api-client.ts';
import { Child } from './child.ts';
import { freePort } from './free-port.ts';

const root = new URL('../..', import.meta.url).pathname;

/**
 * `make run` as a person starts it, with a data folder and ports of its own. It can be started
 * again on its data.
 */
export class MakeRun {
  readonly folder: string;
  readonly ports: { http: number; https: number; ops: number };
  #child: Child | undefined;

  private constructor(folder: string, ports: MakeRun['ports']) {
    this.folder = folder;
    this.ports = ports;
  }

  static async create(): Promise<MakeRun> {
    const folder = await mkdtemp(join(tmpdir(), 'runledger-data-'));
    return new MakeRun(folder, { http: await freePort(), https: await freePort(), ops: await freePort() });
  }

  /** Resolves when it has printed its line `ready`. */
  async start(settings: Record<string, string> = {}): Promise<void> {
    this.#child = this.spawn(settings);
    await this.#child.line(/^ready /);
  }

  /** A process that need not become ready. */
  spawn(settings: Record<string, string> = {}): Child {
    const { http, https, ops } = this.ports;
    const own = { DATA_DIR: this.folder, PORT: String(http), HTTPS_PORT: String(https), OPS_PORT: String(ops) };
    // A group of its own, as a terminal makes one: Ctrl-C reaches all of it.
    return new Child('make', ['run'], { cwd: root, detached: true, env: { ...process.env, ...own, ...settings } });
  }

  /** Ctrl-C, or another signal to the whole process group; resolves when all of it has ended. */
  async interrupt(signal: NodeJS.Signals = 'SIGINT'): Promise<void> {
    const child = this.#child;
    if (child?.process.pid === undefined || child.process.exitCode !== null) return;
    process.kill(-child.process.pid, signal);
    await child.exited;
  }

  get output(): string[] {
    return this.#child?.output ?? [];
  }

  /** A caller with the demo token who trusts the certificate that was made. */
  async client(): Promise<ApiClient> {
    const token = (await readFile(join(this.folder, 'demo-token'), 'utf8')).trim();
    const ca = await readFile(join(this.folder, 'tls', 'cert.pem'));
    return new ApiClient(`https://localhost:${this.ports.https}`, { token }, { ca });
  }

  async remove(): Promise<void> {
    await this.interrupt('SIGKILL').catch(() => undefined);
    await rm(this.folder, { recursive: true, force: true });
  }
}
