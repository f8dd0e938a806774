import { copyFile, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { repository } from '../helm.ts';
import { command, requirePrograms } from './programs.ts';

/** What the tests call the image; the chart is installed with it. */
export const imageName = { repository: 'localhost/runledger', tag: '0.0.1' };

/** An image, and its root file system mounted for containers to run on. */
export class Image implements AsyncDisposable {
  readonly rootfs: string;
  /** As `buildah inspect` tells it. */
  readonly config: {
    readonly User: string;
    readonly Env: string[];
    readonly Entrypoint: string[];
    readonly Cmd: string[];
    readonly WorkingDir: string;
    readonly Labels: Record<string, string>;
  };
  /** In bytes: with the local base, and what the Dockerfile adds to it. */
  readonly size: { readonly whole: number; readonly own: number };
  readonly #container: string;

  private constructor(rootfs: string, config: Image['config'], size: Image['size'], container: string) {
    this.rootfs = rootfs;
    this.config = config;
    this.size = size;
    this.#container = container;
  }

  /**
   * Builds the Dockerfile as it is. No registry is asked for an image: the base is made here, under
   * the name that the Dockerfile gives.
   */
  static async build(): Promise<Image> {
    await requirePrograms();
    const dockerfile = await readFile(join(repository, 'Dockerfile'), 'utf8');
    const base = /^ARG NODE_IMAGE=(\S+)$/m.exec(dockerfile)?.[1];
    if (base === undefined) throw new Error('the Dockerfile names no NODE_IMAGE');
    await ensureBase(base);
    const name = `${imageName.repository}:${imageName.tag}`;
    const folder = await mkdtemp(join(tmpdir(), 'runledger-build-'));
    try {
      const local = ['--pull-never', '--network', 'host', '--isolation', 'chroot', '--layers'];
      await buildah('bud', '--quiet', ...local, ...(await npmAccess(folder)), '--tag', name, repository);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
    const container = (await buildah('from', '--pull-never', name)).trim();
    const rootfs = (await buildah('mount', container)).trim();
    const { OCIv1 } = JSON.parse(await buildah('inspect', '--type', 'image', name)) as {
      OCIv1: { config: Image['config'] };
    };
    const whole = await sizeOf(name);
    return new Image(rootfs, OCIv1.config, { whole, own: whole - (await sizeOf(base)) }, container);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await buildah('rm', this.#container);
  }
}

/**
 * Buildah on a store of its own, below the user's cache: the base and the layers are there at the
 * next run.
 */
function buildah(...args: string[]): Promise<string> {
  const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'runledger');
  return command('buildah', '--root', join(cache, 'images'), '--runroot', join(cache, 'images-run'), ...args);
}

async function sizeOf(image: string): Promise<number> {
  const rows = JSON.parse(await buildah('images', '--json', image)) as { size: string }[];
  const [, number, unit] = /^([\d.]+) (\w+)$/.exec(rows[0]?.size ?? '') ?? [];
  return Number(number) * ({ KB: 1e3, MB: 1e6, GB: 1e9 }[unit ?? ''] ?? Number.NaN);
}

/** What Debian's base system, Node and npm make: as the official image of that name does. */
async function ensureBase(name: string): Promise<void> {
  const there = await buildah('images', '--quiet', name).catch(() => '');
  if (there.trim() !== '') return;
  const folder = await mkdtemp(join(tmpdir(), 'runledger-base-'));
  try {
    const suite = /-(\w+)-slim$/.exec(name)?.[1] ?? 'bookworm';
    await command('debootstrap', '--variant=minbase', '--include=ca-certificates,libstdc++6', suite, folder);
    await copyFile(process.execPath, join(folder, 'usr/local/bin/node'));
    await copyNpm(folder);
    for (const left of ['var/cache/apt', 'var/lib/apt/lists', 'usr/share/doc', 'usr/share/man', 'usr/share/locale']) {
      await rm(join(folder, left), { recursive: true, force: true });
    }
    const container = (await buildah('from', 'scratch')).trim();
    await buildah('add', '--quiet', container, folder, '/');
    await buildah('config', '--env', 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', container);
    await buildah('commit', '--quiet', '--rm', container, name);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function copyNpm(folder: string): Promise<void> {
  // Not `npm root`, which asks where the Node that runs it would put packages.
  const npm = dirname(dirname((await command('sh', '-c', 'readlink -f "$(command -v npm)"')).trim()));
  await mkdir(join(folder, 'usr/local/lib/node_modules'), { recursive: true });
  await cp(npm, join(folder, 'usr/local/lib/node_modules/npm'), { recursive: true });
  await symlink('../lib/node_modules/npm/bin/npm-cli.js', join(folder, 'usr/local/bin/npm'));
}

/**
 * Lets npm inside the build reach the registry that npm outside does: by its settings and
 * certificates, which are mounted for the time of the build and stay out of the image.
 */
async function npmAccess(folder: string): Promise<string[]> {
  const setting = async (name: string): Promise<string> => (await command('npm', 'config', 'get', name)).trim();
  const settings = await readFile(await setting('userconfig'), 'utf8').catch(() => '');
  const configured = await setting('cafile');
  const certificates = configured === 'null' ? process.env['NODE_EXTRA_CA_CERTS'] : configured;
  const file = join(folder, 'npmrc');
  await writeFile(file, certificates === undefined ? settings : `${settings}\ncafile=${certificates}\n`);
  const mounts = [`${file}:/root/.npmrc:ro`];
  if (certificates !== undefined) mounts.push(`${dirname(certificates)}:${dirname(certificates)}:ro`);
  return mounts.flatMap((mount) => ['--volume', mount]);
}
