import { execFile } from 'node:child_process';
import { chown, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client, type ClientConfig } from 'pg';
import { Child } from './child.ts';
import { freePort } from './free-port.ts';

const run = promisify(execFile);

export type UserIds = { uid: number; gid: number };

/** For moves of organizations: with fewer workers, their tables and moves take turns. */
const replicating = ['wal_level=logical', 'max_worker_processes=24', 'max_logical_replication_workers=16']
  .concat(
    'max_sync_workers_per_subscription=11',
    'max_replication_slots=40',
    'max_wal_senders=40',
    'wal_retrieve_retry_interval=100ms',
  )
  .flatMap((setting) => ['-c', setting]);

/** From Postgres 18 on, max_replication_slots no longer limits how many tables copy at once. */
const replicatingFrom18 = ['-c', 'max_active_replication_origins=40'];

/** Tests kill processes and not machines: written data survives without fsync. */
const cheap = ['-c', 'fsync=off', '-c', 'max_connections=60', ...replicating, '-c', 'shared_buffers=64MB'];

/**
 * A real Postgres on a free port. It can be stopped and started again on its data. Postgres refuses
 * to run as root: then it runs as Debian's `postgres`.
 */
export class PostgresServer {
  readonly port: number;
  /** The user it runs as, where that is another one. */
  readonly user: UserIds | undefined;
  readonly #folder: string;
  readonly #settings: string[];
  #child: Child | undefined;
  #databases = 0;

  private constructor(port: number, folder: string, user: UserIds | undefined, settings: string[]) {
    this.port = port;
    this.user = user;
    this.#folder = folder;
    this.#settings = settings;
  }

  /**
   * `settings`: arguments (`-c`, `name=value`) that win over those of tests. `parent`: where the
   * folder of its data is made.
   */
  static async start(settings: string[] = [], parent = tmpdir()): Promise<PostgresServer> {
    const { server, folder, user } = await PostgresServer.#inNewFolder(settings, parent);
    const flags = ['-D', folder, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-locale', '-N'];
    await run(await binary('initdb'), flags, { ...user });
    await server.startAgain();
    return server;
  }

  /** Starts a hot standby of this server, which streams what this server writes. */
  async startReplica(): Promise<PostgresServer> {
    const { server, folder, user } = await PostgresServer.#inNewFolder([], tmpdir());
    const from = ['-h', '127.0.0.1', '-p', String(this.port), '-U', 'postgres'];
    await run(await binary('pg_basebackup'), ['-D', folder, '-R', '-c', 'fast', '--no-sync', ...from], { ...user });
    await server.startAgain();
    return server;
  }

  static async #inNewFolder(settings: string[], parent: string) {
    const folder = await mkdtemp(join(parent, 'runledger-postgres-'));
    const user = process.getuid?.() === 0 ? await postgresUser() : undefined;
    if (user !== undefined) await chown(folder, user.uid, user.gid);
    return { server: new PostgresServer(await freePort(), folder, user, settings), folder, user };
  }

  /** The last lines of its log. */
  get log(): readonly string[] {
    return this.#child?.output ?? [];
  }

  /** The address of a database of this server. */
  url(database = 'postgres'): string {
    return `postgres://postgres@127.0.0.1:${this.port}/${database}`;
  }

  /** Resolves once it takes connections, recovered from whatever happened. */
  async startAgain(): Promise<void> {
    const args = ['-D', this.#folder, '-p', String(this.port), '-k', this.#folder, '-c', 'listen_addresses=127.0.0.1'];
    const version = Number(await readFile(join(this.#folder, 'PG_VERSION'), 'utf8'));
    const settings = [...cheap, ...(version < 18 ? [] : replicatingFrom18), ...this.#settings];
    this.#child = new Child(await binary('postgres'), [...args, ...settings], { ...this.user });
    await this.#child.line(/database system is ready to accept (?:read-only )?connections/);
  }

  /**
   * Ends the server and keeps its data. SIGQUIT is a crash, SIGINT a fast shutdown; SIGKILL ends
   * every process of the server at once, as the end of its pod does.
   */
  async kill(signal: 'SIGQUIT' | 'SIGINT' | 'SIGKILL' = 'SIGQUIT'): Promise<void> {
    if (signal === 'SIGKILL') await this.#signalBackends(signal);
    await this.#child?.kill(signal);
  }

  /** Freezes or wakes every process of the server. */
  async signal(signal: 'SIGSTOP' | 'SIGCONT'): Promise<void> {
    this.#child?.process.kill(signal);
    await this.#signalBackends(signal);
  }

  /** Makes a database, empty or a copy of one without sessions, and returns its address. */
  async createDatabase(template = 'template1'): Promise<string> {
    this.#databases += 1;
    const name = `test_${this.#databases}`;
    await this.query(`create database ${name} template ${template}`);
    return this.url(name);
  }

  query(sql: string, database = 'postgres'): Promise<Record<string, unknown>[]> {
    return query(this.url(database), sql);
  }

  async stop(): Promise<void> {
    await this.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #signalBackends(signal: NodeJS.Signals): Promise<void> {
    const pid = this.#child?.process.pid;
    const list = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
    for (const backend of list.split(' ').filter(Boolean)) {
      try {
        process.kill(Number(backend), signal);
      } catch {
        // It has ended meanwhile.
      }
    }
  }
}

/** Runs one query on a connection of its own. */
export async function query<Row extends object = Record<string, unknown>>(
  server: string | ClientConfig,
  sql: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const client = new Client(server);
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Row>(sql, values)).rows;
  } finally {
    await client.end();
  }
}

/** The ids of the system user `postgres`. */
export async function postgresUser(): Promise<UserIds> {
  const id = async (flag: string): Promise<number> => Number((await run('id', [flag, 'postgres'])).stdout);
  return { uid: await id('-u'), gid: await id('-g') };
}

/**
 * A program of Postgres: in the folder POSTGRES_BIN, or in the newest of those that Debian keeps
 * beside the PATH, one for each version.
 */
export async function binary(name: string): Promise<string> {
  const given = process.env['POSTGRES_BIN'];
  if (given !== undefined) return join(given, name);
  const root = '/usr/lib/postgresql';
  const versions = await readdir(root).catch(() => []);
  const newest = versions
    .map(Number)
    .sort((a, b) => b - a)
    .at(0);
  return newest === undefined ? name : join(root, String(newest), 'bin', name);
}
