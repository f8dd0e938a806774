import { execFile } from 'node:child_process';
import { chown, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import type { Child } from '../child.ts';
import type { PodSpec } from '../helm-manifests.ts';
import type { PodAddress } from './network.ts';
import type { PodInputs } from './pod-inputs.ts';
import { inside } from './pod.ts';

/**
 * The bundled Redis: Debian's server with the configuration, arguments and password that the
 * StatefulSet gives it.
 */
export async function startRedis(spec: PodSpec, inputs: PodInputs, place: PodAddress): Promise<BundledServer> {
  const [container] = spec.containers;
  if (container === undefined) throw new Error('the pod has no container');
  const data = await mkdtemp(join(tmpdir(), 'runledger-data-'));
  const environment = Object.fromEntries((await inputs.environment(container)).map((entry) => entry.split(/=(.*)/s)));
  const mounts = await inputs.mounts(
    { ...spec, volumes: [...(spec.volumes ?? []), { name: 'data', emptyDir: {} }] },
    container,
  );
  const config = mounts.find(({ destination }) => destination === '/etc/redis')?.source ?? '';
  const file = join(config, 'redis.conf');
  // The one thing that is elsewhere on this machine: the volume.
  await writeFile(file, (await readFile(file, 'utf8')).replace('dir /data', `dir ${data}`));
  const expand = (_: string, name: string): string => environment[name] ?? '';
  const args = (container.args ?? []).map((arg) =>
    arg.replace('/etc/redis', config).replaceAll(/\$\((\w+)\)/g, expand),
  );
  const child = inside(place, container.command?.[0] ?? '', args);
  await child.line(/Ready to accept connections/);
  return new BundledServer(child, data);
}

/**
 * The bundled Postgres: Debian's server, set up from the StatefulSet's variables as the official
 * image does.
 */
export async function startPostgres(spec: PodSpec, inputs: PodInputs, place: PodAddress): Promise<BundledPostgres> {
  const [container] = spec.containers;
  if (container === undefined) throw new Error('the pod has no container');
  const settings = Object.fromEntries((await inputs.environment(container)).map((entry) => entry.split(/=(.*)/s)));
  const { POSTGRES_USER: user = '', POSTGRES_PASSWORD: password = '', POSTGRES_DB: database = '' } = settings;
  const folder = await mkdtemp(join(tmpdir(), 'runledger-data-'));
  const owner = { uid: await id('-u'), gid: await id('-g') };
  const passwordFile = join(folder, 'password');
  await writeFile(passwordFile, password);
  for (const path of [folder, passwordFile]) await chown(path, owner.uid, owner.gid);
  const data = join(folder, 'data');
  const flags = ['-D', data, '-U', user, '--pwfile', passwordFile, '--auth-local=trust', '-N', '-E', 'UTF8'];
  const initial = settings['POSTGRES_INITDB_ARGS']?.split(' ') ?? [];
  await promisify(execFile)(await binary('initdb'), [...flags, ...initial], owner);
  await writeFile(join(data, 'pg_hba.conf'), `local all all trust\nhost all all all scram-sha-256\n`);
  const child = inside(
    place,
    await binary('postgres'),
    ['-D', data, '-k', folder, '-h', '*', '-c', 'fsync=off'],
    owner,
  );
  await child.line(/database system is ready to accept connections/);
  const server = new BundledPostgres(child, folder, user, database);
  await server.query(`create database ${database}`, 'postgres');
  return server;
}

export class BundledServer {
  readonly #child: Child;
  readonly folder: string;

  constructor(child: Child, folder: string) {
    this.#child = child;
    this.folder = folder;
  }

  async stop(): Promise<void> {
    await this.#child.kill('SIGQUIT');
    await rm(this.folder, { recursive: true, force: true });
  }
}

export class BundledPostgres extends BundledServer {
  readonly #user: string;
  readonly #database: string;

  constructor(child: Child, folder: string, user: string, database: string) {
    super(child, folder);
    this.#user = user;
    this.#database = database;
  }

  /** By its UNIX socket, which other network namespaces see too. */
  async query(sql: string, database = this.#database): Promise<Record<string, unknown>[]> {
    const client = new Client({ host: this.folder, user: this.#user, database });
    await client.connect();
    try {
      const { rows } = await client.query<Record<string, unknown>>(sql);
      return rows;
    } finally {
      await client.end();
    }
  }
}

async function id(flag: string): Promise<number> {
  return Number((await promisify(execFile)('id', [flag, 'postgres'])).stdout);
}

/** Debian keeps the server's programs beside the PATH, in a folder per version. */
async function binary(name: string): Promise<string> {
  const root = '/usr/lib/postgresql';
  const versions = await readdir(root).catch(() => []);
  const newest = versions.map(Number).sort((a, b) => b - a)[0];
  return newest === undefined ? name : join(root, String(newest), 'bin', name);
}
