import { execFile } from 'node:child_process';
import { chown, mkdir, mkdtemp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client, type ClientConfig } from 'pg';
import { Child } from '../child.ts';
import { binary, postgresUser } from '../postgres-server.ts';
import { reapAtExit } from './reaper.ts';
import { stablePort } from './stable-port.ts';

const run = promisify(execFile);

/**
 * `fsync=off`: processes are killed here, not machines; what was written is in the page cache and
 * stays.
 */
const settings = [
  'fsync=off',
  'max_connections=40',
  'shared_buffers=128MB',
  'deadlock_timeout=200ms',
  'max_wal_size=256MB',
];

export type Ids = { uid: number; gid: number };

/**
 * The Postgres of a fault run. Workers are `runledger`, which owns the database; the harness is
 * superuser.
 */
export class PostgresDaemon {
  readonly port: number;
  readonly user: Ids | undefined;
  readonly #folder: string;
  #child: Child | undefined;

  private constructor(port: number, folder: string, user: Ids | undefined) {
    this.port = port;
    this.user = user;
    this.#folder = folder;
  }

  static async start(folder: string): Promise<PostgresDaemon> {
    const data = await mkdtemp(join(folder, 'postgres-'));
    const user = process.getuid?.() === 0 ? await postgresUser() : undefined;
    if (user !== undefined) await chown(data, user.uid, user.gid);
    const postgres = new PostgresDaemon(await stablePort(), data, user);
    const init = ['-D', join(data, 'data'), '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-locale', '-N'];
    await run(await binary('initdb'), init, { ...user });
    await mkdir(join(data, 'sockets'));
    if (user !== undefined) await chown(join(data, 'sockets'), user.uid, user.gid);
    await postgres.startAgain();
    await postgres.query('create role runledger login', [], 'postgres');
    await postgres.query('create database runledger owner runledger', [], 'postgres');
    return postgres;
  }

  /** The address for workers that reach it through `port`. */
  url(port: number): string {
    return `postgres://runledger@127.0.0.1:${port}/runledger`;
  }

  /**
   * Resolves once it takes connections, recovered from whatever happened. Does nothing while it
   * runs.
   */
  async startAgain(): Promise<void> {
    if (this.#child !== undefined) return;
    const place = ['-D', join(this.#folder, 'data'), '-p', String(this.port), '-k', join(this.#folder, 'sockets')];
    const options = ['listen_addresses=127.0.0.1', ...settings].flatMap((setting) => ['-c', setting]);
    this.#child = new Child(await binary('postgres'), [...place, ...options], { ...this.user });
    reapAtExit(this.#child.process);
    await this.#child.line(/database system is ready to accept connections/);
  }

  /**
   * `SIGKILL` ends every process of the server at once, as the end of its pod does. SIGINT is its
   * fast shutdown.
   */
  async end(signal: 'SIGKILL' | 'SIGINT' | 'SIGQUIT'): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (signal === 'SIGKILL') for (const pid of await childrenOf(child)) kill(pid, 'SIGKILL');
    await child?.kill(signal);
  }

  /** Freezes or wakes every process of the server. */
  async signal(signal: 'SIGSTOP' | 'SIGCONT'): Promise<void> {
    this.#child?.process.kill(signal);
    for (const pid of await childrenOf(this.#child)) kill(pid, signal);
  }

  /**
   * One query as superuser in the database `runledger`, whatever the server's defaults have become.
   */
  async query<Row extends object = Record<string, unknown>>(
    sql: string,
    values: unknown[] = [],
    database = 'runledger',
  ): Promise<Row[]> {
    const client = await this.connect({ database });
    try {
      const { rows } = await client.query<Row>(sql, values);
      return rows;
    } finally {
      await client.end();
    }
  }

  /** A connection as superuser that may write, wait and be waited for. The caller ends it. */
  async connect(config: ClientConfig = {}): Promise<Client> {
    const client = new Client({
      host: '127.0.0.1',
      port: this.port,
      user: 'postgres',
      database: 'runledger',
      options: '-c default_transaction_read_only=off -c statement_timeout=0 -c lock_timeout=0',
      connectionTimeoutMillis: 5_000,
      ...config,
    });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  }
}

async function childrenOf(child: Child | undefined): Promise<number[]> {
  const pid = child?.process.pid;
  if (pid === undefined) return [];
  const list = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  return list.split(' ').filter(Boolean).map(Number);
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended meanwhile.
  }
}
