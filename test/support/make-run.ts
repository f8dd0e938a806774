import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ApiClient } from './api-client.ts';
import { Child } from './child.ts';
import { freePort } from './free-port.ts';
import { memoryFolder } from './memory-folder.ts';

const root = new URL('../..', import.meta.url).pathname;

/**
 * `make run` as a person starts it, with a data folder and ports of its own. It can be started
 * again on its data.
 */
export class MakeRun {
  readonly folder: string;
  readonly ports: { http: number; https: number; console: number; ops: number };
  #child: Child | undefined;

  private constructor(folder: string, ports: MakeRun['ports']) {
    this.folder = folder;
    this.ports = ports;
  }

  static async create(): Promise<MakeRun> {
    const folder = await mkdtemp(join(memoryFolder(), 'runledger-data-'));
    const [http, https] = [await freePort(), await freePort()];
    return new MakeRun(folder, { http, https, console: await freePort(), ops: await freePort() });
  }

  /** Resolves when it has printed its line `ready`. */
  async start(settings: Record<string, string> = {}): Promise<void> {
    this.#child = this.spawn(settings);
    await this.#child.line(/^ready /);
  }

  /** A process that need not become ready. */
  spawn(settings: Record<string, string> = {}): Child {
    // A group of its own, as a terminal makes one: Ctrl-C reaches all of it.
    return new Child('make', ['run'], {
      cwd: root,
      detached: true,
      env: { ...this.environment, ...settings },
    });
  }

  /** `make demo`, which plays about so many events at full speed. */
  demo(events: number): Child {
    return new Child('make', ['demo', `EVENTS=${events}`, 'RATE=0'], {
      cwd: root,
      env: this.environment,
    });
  }

  /** The environment that leads `make run` and `make demo` to the folder and the ports. */
  get environment(): NodeJS.ProcessEnv {
    const { http, https, console, ops } = this.ports;
    const ports = { PORT: http, HTTPS_PORT: https, CONSOLE_PORT: console, OPS_PORT: ops };
    const settings = Object.entries(ports).map(([name, port]) => [name, String(port)]);
    return { ...process.env, DATA_DIR: this.folder, ...Object.fromEntries(settings) };
  }

  /** Ctrl-C, or another signal to the whole process group; resolves when all of it has ended. */
  async interrupt(signal: NodeJS.Signals = 'SIGINT'): Promise<void> {
    const child = this.#child;
    if (child?.process.pid === undefined || child.process.exitCode !== null) return;
    process.kill(-child.process.pid, signal);
    await child.exited;
  }

  /** True from its start until it has ended. */
  get isRunning(): boolean {
    return this.#child?.alive ?? false;
  }

  get output(): string[] {
    return this.#child?.output ?? [];
  }

  /** A caller with the demo token who trusts the certificate that was made. */
  client(): Promise<ApiClient> {
    return this.#clientOf(this.ports.https, 'demo-token');
  }

  /** A reader with the demo read token who trusts the certificate that was made. */
  reader(): Promise<ApiClient> {
    return this.#clientOf(this.ports.console, 'demo-read-token');
  }

  async #clientOf(port: number, tokenFile: string): Promise<ApiClient> {
    const token = (await readFile(join(this.folder, tokenFile), 'utf8')).trim();
    const ca = await readFile(join(this.folder, 'tls', 'cert.pem'));
    return new ApiClient(`https://localhost:${port}`, { token }, { ca });
  }

  /** Stops all of it, since a kill would leave its Redis running, and removes its data. */
  async remove(): Promise<void> {
    await this.interrupt().catch(() => undefined);
    await rm(this.folder, { recursive: true, force: true });
  }
}
