import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, constants, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

/** Paths of the programs that make a Kubernetes control plane. */
export interface Binaries {
  readonly etcd: string;
  readonly apiServer: string;
}

const tools = join(import.meta.dirname, '../../cluster/tools');

/**
 * The programs of KUBEBUILDER_ASSETS, of the PATH, or else those built with Go from
 * test/cluster/tools, once, into the user's cache folder. Throws an Error of one line that says
 * what is missing.
 */
export async function findBinaries(): Promise<Binaries> {
  const assets = process.env['KUBEBUILDER_ASSETS'];
  if (assets !== undefined) {
    const found = await bothIn(assets);
    if (found === undefined) throw new Error(`KUBEBUILDER_ASSETS=${assets} has no kube-apiserver and etcd`);
    return found;
  }
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const found = await bothIn(folder);
    if (found !== undefined) return found;
  }
  const cache = await cacheFolder();
  return (await bothIn(cache)) ?? (await build(cache));
}

async function bothIn(folder: string): Promise<Binaries | undefined> {
  const binaries = { etcd: join(folder, 'etcd'), apiServer: join(folder, 'kube-apiserver') };
  try {
    await Promise.all(Object.values(binaries).map((path) => access(path, constants.X_OK)));
    return binaries;
  } catch {
    return undefined;
  }
}

/** One folder for each set of pinned versions, and way of building them. */
async function cacheFolder(): Promise<string> {
  const pinned = await readFile(join(tools, 'go.sum'));
  const key = createHash('sha256').update(pinned).update(goBuild.toString()).digest('hex').slice(0, 16);
  return join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'runledger', `control-plane-${key}`);
}

async function build(cache: string): Promise<Binaries> {
  await mkdir(join(cache, '..'), { recursive: true });
  // Built aside and moved into place, so that no run finds half of it.
  const folder = await mkdtemp(`${cache}-`);
  console.error('Building kube-apiserver and etcd with Go, once. This takes some minutes.');
  try {
    await goBuild(join(folder, 'etcd'), 'go.etcd.io/etcd/server/v3');
    await goBuild(join(folder, 'kube-apiserver'), 'k8s.io/kubernetes/cmd/kube-apiserver', await versionFlags());
    await rename(folder, cache);
  } catch (error) {
    await rm(folder, { recursive: true });
    throw error;
  }
  const built = await bothIn(cache);
  if (built === undefined) throw new Error(`Go built no kube-apiserver and etcd in ${cache}`);
  return built;
}

async function goBuild(output: string, command: string, linkFlags = ''): Promise<void> {
  await go('build', '-mod=readonly', '-trimpath', `-ldflags=-s -w ${linkFlags}`, '-o', output, command);
}

/**
 * Kubernetes' own build writes its version into the program; Helm compares it with what a chart
 * asks for.
 */
async function versionFlags(): Promise<string> {
  const version = (await go('list', '-m', '-f', '{{.Version}}', 'k8s.io/kubernetes')).trim();
  const [major, minor] = version.slice(1).split('.');
  const values = { gitVersion: version, gitMajor: major, gitMinor: minor };
  return Object.entries(values)
    .map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`)
    .join(' ');
}

async function go(...words: string[]): Promise<string> {
  try {
    const env = { ...process.env, GOFLAGS: '', CGO_ENABLED: '0' };
    return (await promisify(execFile)('go', words, { cwd: tools, env })).stdout;
  } catch (error) {
    throw new Error(explainBuild(error), { cause: error });
  }
}

function explainBuild(error: unknown): string {
  const { code, stderr = '' } = error as { code?: unknown; stderr?: string };
  if (code === 'ENOENT') {
    return 'The cluster tests need Go 1.26 or later, or kube-apiserver and etcd on the PATH or in KUBEBUILDER_ASSETS.';
  }
  return `go build failed: ${stderr.trim().split('\n').at(-1) ?? ''}`;
}
