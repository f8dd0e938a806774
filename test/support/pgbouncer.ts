import { existsSync } from 'node:fs';
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { Child } from './child.ts';
import { freePort } from './free-port.ts';
import { postgresUser } from './postgres-server.ts';

/** Debian's is not in the PATH of every user. */
const program = ['/usr/sbin/pgbouncer'].find((path) => existsSync(path)) ?? 'pgbouncer';

/** Sessions of Postgres that all clients share. */
const sessions = 3;

/** PgBouncer in transaction mode, before the database of an address. It refuses to run as root. */
export class PgBouncer {
  /** The address of the database through this pooler. */
  readonly url: string;
  readonly #folder: string;
  readonly #child: Child;

  private constructor(url: string, folder: string, child: Child) {
    this.url = url;
    this.#folder = folder;
    this.#child = child;
  }

  static async start(database: string): Promise<PgBouncer> {
    const [{ port: server, pathname }, port] = [new URL(database), await freePort()];
    const folder = await mkdtemp(join(tmpdir(), 'runledger-pgbouncer-'));
    const file = join(folder, 'pgbouncer.ini');
    const lines = [
      '[databases]',
      `* = host=127.0.0.1 port=${server} user=postgres`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = any',
      'pool_mode = transaction',
      `default_pool_size = ${sessions}`,
    ];
    await writeFile(file, `${lines.join('\n')}\n`);
    const user = process.getuid?.() === 0 ? await postgresUser() : undefined;
    if (user !== undefined) await chown(folder, user.uid, user.gid);
    const child = new Child(program, [file], { ...user });
    await child.line(/process up/);
    return new PgBouncer(`postgres://postgres@127.0.0.1:${port}${pathname}`, folder, child);
  }

  /** Runs statements in each session of Postgres, as any client may. Resolves with the rows. */
  async inEachSession(...statements: string[]): Promise<Record<string, unknown>[]> {
    const clients = Array.from({ length: sessions }, () => new Client(this.url));
    const rows: Record<string, unknown>[] = [];
    for (const client of clients) await client.connect();
    // An open transaction keeps its session.
    for (const client of clients) await client.query('begin');
    for (const client of clients) {
      for (const text of statements) rows.push(...(await client.query<Record<string, unknown>>(text)).rows);
    }
    for (const client of clients) await client.query('commit');
    for (const client of clients) await client.end();
    return rows;
  }

  async stop(): Promise<void> {
    await this.#child.kill('SIGKILL');
    await rm(this.#folder, { recursive: true, force: true });
  }
}
