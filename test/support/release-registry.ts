import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Child } from './child.ts';
import { commandsOf } from './document-blocks.ts';
import { freePort } from './free-port.ts';
import { findHelm } from './helm-binaries.ts';
import { repository } from './helm.ts';
import { until } from './until.ts';
import { ownVersion } from './version.ts';

const run = promisify(execFile);

/** A program that makes a release, by its name. */
export async function releaseTool(name: string): Promise<string> {
  return (await run(join(repository, 'deploy/release/tool.sh'), [name])).stdout.trim();
}

/** An OCI registry on this machine, and two keys: releases are signed with `own`. */
export class ReleaseRegistry {
  readonly port: number;
  /** Where releases are published. */
  readonly owner: string;
  readonly #folder: string;
  readonly #process: Child;
  readonly #environment: NodeJS.ProcessEnv;

  private constructor(port: number, folder: string, process: Child, environment: NodeJS.ProcessEnv) {
    this.port = port;
    this.owner = `127.0.0.1:${port}/runledger`;
    this.#folder = folder;
    this.#process = process;
    this.#environment = environment;
  }

  /** Resolves when it serves. `host` is the address of the machine that it listens on. */
  static async start(host = '127.0.0.1'): Promise<ReleaseRegistry> {
    const port = await freePort();
    const folder = await mkdtemp(join(tmpdir(), 'runledger-registry-'));
    const serve = ['registry', 'serve', '--address', `${host}:${port}`, '--disk', folder];
    const server = new Child(await releaseTool('crane'), serve);
    const serves = (): Promise<boolean> =>
      fetch(`http://127.0.0.1:${port}/v2/`).then(
        ({ ok }) => ok,
        () => false,
      );
    await until('the registry serves', serves);
    const cosign = await releaseTool('cosign');
    const PATH = `${dirname(cosign)}:${dirname(await findHelm())}:${process.env['PATH']}`;
    const environment = { ...process.env, PATH, COSIGN_PASSWORD: 'x', KEY: join(folder, 'own.key'), PLAIN_HTTP: '1' };
    for (const key of ['own', 'other'])
      await run(cosign, ['generate-key-pair', '--output-key-prefix', join(folder, key)], { env: environment });
    return new ReleaseRegistry(port, folder, server, environment);
  }

  /** Publishes the files of a release, by the script of a clone. */
  async publish(version: string, files: string, clone = repository): Promise<void> {
    const args = [version, files, this.owner];
    await run(join(clone, 'deploy/release/publish.sh'), args, { env: this.#environment });
  }

  /** What docs/operate/verify-a-release.md prints of a release, beside its files. */
  async verify(version: string, files: string, key = 'own'): Promise<string> {
    const identity = `--key=${join(this.#folder, key)}.pub --insecure-ignore-tlog=true`;
    const lines = commandsOf('docs/operate/verify-a-release.md', 'release').join('\n');
    const named = await this.named(lines, version);
    const script = named.replace(/IDENTITY=".*"/, `IDENTITY="${identity}"`);
    const options = { env: this.#environment, cwd: files, maxBuffer: 64 * 1024 * 1024 };
    return (await run('bash', ['-ec', script], options)).stdout;
  }

  /** Documented shell, about a version in this registry. */
  async named(shell: string, version: string): Promise<string> {
    return shell.replaceAll('ghcr.io/runledger', this.owner).replaceAll(await ownVersion(), version);
  }

  async stop(): Promise<void> {
    await this.#process.kill('SIGTERM');
    await rm(this.#folder, { recursive: true, force: true });
  }
}
