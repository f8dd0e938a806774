import type { SpawnOptions } from 'node:child_process';
import { join } from 'node:path';
import type { Cgroup } from './cgroup.ts';
import { Child } from './child.ts';
import { environmentOfImage, nodeOptionsOfImage } from './image-environment.ts';
import { until } from './until.ts';
import { tuned } from './tuned.ts';

const root = join(import.meta.dirname, '../..');

/** Every ingest and console of the tests is behind a proxy that ends TLS. */
const ofIngest = { PUBLIC_URL: 'https://runledger.example', TRUST_PROXY: 'true' };
const ofConsole = { CONSOLE_PUBLIC_URL: 'https://console.example', TRUST_PROXY: 'true' };
const ofController = { CONSOLE_PUBLIC_URL: 'https://console.example' };
const ownSettings = { ingest: ofIngest, worker: {}, console: ofConsole, controller: ofController };

/** A process of Runledger with the environment of a pod: the given settings and nothing else. */
export class RunledgerProcess {
  readonly child: Child;
  readonly #ops: string;

  /** `settings` say its OPS_PORT. With `memory` it runs as in the image, under that limit. */
  constructor(
    name: keyof typeof ownSettings,
    settings: NodeJS.ProcessEnv,
    { memory, ...options }: SpawnOptions & { memory?: Cgroup | undefined } = {},
  ) {
    const env = { PATH: process.env['PATH'], ...ownSettings[name], ...tuned(settings) };
    const spawning = { cwd: root, ...options };
    const main = `cmd/${name}/main.ts`;
    if (memory === undefined) {
      this.child = new Child(process.execPath, [main], { ...spawning, env });
    } else {
      const [command, args] = memory.command(process.execPath, [...nodeOptionsOfImage(), main]);
      this.child = new Child(command, args, { ...spawning, env: { ...mallocOfImage(), ...env } });
    }
    this.#ops = `http://${settings['LISTEN_ADDRESS'] ?? '127.0.0.1'}:${settings['OPS_PORT']}`;
  }

  /** The status of the readiness probe, asked as the kubelet does; 0 without an answer in 1 s. */
  readiness(): Promise<number> {
    return this.#page('/readyz', 1_000).then(
      ({ status }) => status,
      () => 0,
    );
  }

  /** Resolves once it is ready. Rejects with the end of its log when that takes too long. */
  async ready(withinMs = 60_000): Promise<void> {
    await until('ready', async () => (await this.readiness()) === 200, withinMs).catch((error: unknown) => {
      throw new Error(`not ready within ${withinMs} ms:\n${this.child.output.slice(-20).join('\n')}`, { cause: error });
    });
  }

  /** What Prometheus reads. Rejects without an answer in 30 s. */
  async metrics(): Promise<string> {
    return (await this.#page('/metrics', 30_000)).text;
  }

  /** The value of a metric, summed over its labels. */
  async metric(name: string): Promise<number> {
    const lines = (await this.metrics()).matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'gm'));
    return [...lines].reduce((sum, [, value]) => sum + Number(value), 0);
  }

  async #page(path: string, withinMs: number): Promise<{ status: number; text: string }> {
    const signal = AbortSignal.timeout(withinMs);
    const response = await fetch(`${this.#ops}${path}`, {
      signal,
      headers: { connection: 'close' },
    });
    return { status: response.status, text: await response.text() };
  }
}

/** Without the image's compile cache, which is elsewhere here. */
function mallocOfImage(): NodeJS.ProcessEnv {
  return { MALLOC_ARENA_MAX: environmentOfImage()['MALLOC_ARENA_MAX'] };
}
