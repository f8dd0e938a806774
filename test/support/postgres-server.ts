import { execFile } from 'node:child_process';
import { chown, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { Child } from './child.ts';
import { freePort } from './free-port.ts';

const run = promisify(execFile);

/**
 * A real Postgres in a temporary folder on a free port. It refuses to run as root: then it runs as
 * Debian's `postgres`.
 */
export class PostgresServer {
  readonly port: number;
  readonly #folder: string;
  readonly #user: { uid: number; gid: number } | undefined;
  #child: Child | undefined;
  #databases = 0;

  private constructor(port: number, folder: string, user: { uid: number; gid: number } | undefined) {
    this.port = port;
    this.#folder = folder;
    this.#user = user;
  }

  /**
   * `settings`: more arguments of the server (`-c`, `name=value`), which go before those of tests.
   */
  static async start(settings: string[] = []): Promise<PostgresServer> {
    const folder = await mkdtemp(join(tmpdir(), 'runledger-postgres-'));
    const user = process.getuid?.() === 0 ? await postgresUser() : undefined;
    if (user !== undefined) await chown(folder, user.uid, user.gid);
    const server = new PostgresServer(await freePort(), folder, user);
    await run(
      await binary('initdb'),
      ['-D', folder, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-locale', '-N'],
      {
        ...user,
      },
    );
    await server.startAgain(settings);
    return server;
  }

  /** The address of a database of this server. */
  url(database = 'postgres'): string {
    return `postgres://postgres@127.0.0.1:${this.port}/${database}`;
  }

  async startAgain(settings: string[] = []): Promise<void> {
    const args = ['-D', this.#folder, '-p', String(this.port), '-k', this.#folder, '-c', 'listen_addresses=127.0.0.1'];
    const cheap = ['-c', 'fsync=off', '-c', 'max_connections=60', '-c', 'shared_buffers=64MB', ...settings];
    this.#child = new Child(await binary('postgres'), [...args, ...cheap], { ...this.#user });
    await this.#child.line(/database system is ready to accept connections/);
  }

  /** Stops the server at once (as a crash, with SIGQUIT) and keeps its data. */
  async kill(signal: NodeJS.Signals = 'SIGQUIT'): Promise<void> {
    await this.#child?.kill(signal);
  }

  /** Makes an empty database and returns its address. */
  async createDatabase(): Promise<string> {
    this.#databases += 1;
    const name = `test_${this.#databases}`;
    await this.query(`create database ${name}`);
    return this.url(name);
  }

  async query(sql: string, database = 'postgres'): Promise<Record<string, unknown>[]> {
    return query(this.url(database), sql);
  }

  async stop(): Promise<void> {
    await this.kill('SIGQUIT');
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** Runs one query on a connection of its own. */
export async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<Record<string, unknown>>(sql);
    return rows;
  } finally {
    await client.end();
  }
}

/** The ids of the system user `postgres`. */
export async function postgresUser(): Promise<{ uid: number; gid: number }> {
  const id = async (flag: string): Promise<number> => Number((await run('id', [flag, 'postgres'])).stdout);
  return { uid: await id('-u'), gid: await id('-g') };
}

/**
 * Debian keeps the server's programs beside the PATH, in a folder per version; the newest is taken.
 */
export async function binary(name: string): Promise<string> {
  const root = '/usr/lib/postgresql';
  const versions = await readdir(root).catch(() => []);
  const newest = versions
    .map(Number)
    .sort((a, b) => b - a)
    .at(0);
  return newest === undefined ? name : join(root, String(newest), 'bin', name);
}
