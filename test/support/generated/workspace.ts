import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readOpenApi } from '../openapi.ts';

const root = new URL('../../..', import.meta.url).pathname;

/** The programs that use the clients, and what they and the generators are installed from. */
export const programs = join(root, 'test/clients/generated');

/** Where what was downloaded or built stays for the next run. */
export const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'runledger');

const execute = promisify(execFile);

/** A folder to generate clients in: the programs, and the API's description in 3.1 and 3.0. */
export class Workspace implements AsyncDisposable {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async create(): Promise<Workspace> {
    const workspace = new Workspace(await mkdtemp(join(tmpdir(), 'runledger-generated-')));
    await cp(programs, workspace.folder, { recursive: true });
    await cp(join(root, 'internal/intake/openapi-3.0.yaml'), workspace.path('openapi-3.0.yaml'));
    await writeFile(workspace.path('openapi.json'), JSON.stringify(await readOpenApi()));
    await symlink(join(await installedPackages(), 'node_modules'), workspace.path('node_modules'));
    return workspace;
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  /** Runs a program in the folder. @throws with all that it printed, if it fails. */
  async run(program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<void> {
    const options = { cwd: this.folder, env: { ...process.env, ...env }, maxBuffer: 64 * 1024 * 1024 };
    try {
      await execute(program, args, options);
    } catch (error) {
      const { message, stdout, stderr } = error as { message: string; stdout?: string; stderr?: string };
      throw new Error([message, stdout?.slice(-8_000), stderr?.slice(-8_000)].join('\n'), { cause: error });
    }
  }

  /** Runs a program of the pinned packages with the Node of the tests. */
  async runPackaged(name: string, args: readonly string[]): Promise<void> {
    await this.run(process.execPath, [this.path(`node_modules/.bin/${name}`), ...args]);
  }

  /** Type-checks a program with its client, and makes one file that Node runs. */
  async compile(name: string): Promise<string> {
    const options = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2024', '--module', 'esnext'];
    const types = ['--types', 'node', '--typeRoots', join(root, 'node_modules/@types')];
    const resolution = ['--moduleResolution', 'bundler', '--lib', 'es2024,dom,dom.iterable,dom.asynciterable'];
    const tsc = join(root, 'node_modules/.bin/tsc');
    await this.run(process.execPath, [tsc, ...options, ...types, ...resolution, '--ignoreConfig', `${name}.ts`]);
    const bundled = this.path(`${name}.mjs`);
    const form = ['--bundle', '--platform=node', '--format=esm', '--log-level=warning', `--outfile=${bundled}`];
    await this.run(this.path('node_modules/.bin/esbuild'), [`${name}.ts`, ...form]);
    return bundled;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** Installs the pinned generators of npm once for each version of their lock file. */
async function installedPackages(): Promise<string> {
  const lock = await readFile(join(programs, 'package-lock.json'));
  const folder = join(cache, `generators-${createHash('sha256').update(lock).digest('hex').slice(0, 16)}`);
  if (existsSync(folder)) return folder;
  await mkdir(cache, { recursive: true });
  const partial = await mkdtemp(`${folder}-`);
  for (const file of ['package.json', 'package-lock.json', '.npmrc'])
    await cp(join(programs, file), join(partial, file));
  await execute('npm', ['ci', '--loglevel=error', '--no-progress', '--ignore-scripts'], { cwd: partial });
  await rename(partial, folder);
  return folder;
}
