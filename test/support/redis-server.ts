import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { Child } from './child.ts';
import { freePort } from './free-port.ts';

export const durable = ['--appendonly', 'yes', '--appendfsync', 'always', '--maxmemory-policy', 'noeviction'];

/**
 * A real Redis in a temporary folder on a free port. It can be stopped and started again on its
 * data.
 */
export class RedisServer {
  readonly port: number;
  readonly #folder: string;
  readonly #args: string[];
  #child: Child | undefined;

  private constructor(port: number, folder: string, args: string[]) {
    this.port = port;
    this.#folder = folder;
    this.#args = args;
  }

  static async start(args: string[] = durable): Promise<RedisServer> {
    const server = new RedisServer(await freePort(), await mkdtemp(join(tmpdir(), 'runledger-redis-')), args);
    await server.startAgain();
    return server;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** With other arguments it is another server at the same address. */
  async startAgain(args = this.#args): Promise<void> {
    const place = ['--port', String(this.port), '--bind', '127.0.0.1', '--dir', this.#folder, '--save', ''];
    this.#child = new Child('redis-server', [...place, ...args]);
    await this.#child.line(/Ready to accept connections/);
  }

  /** Stops the server and keeps its data. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    await this.#child?.kill(signal);
  }

  /** Freezes or wakes the server: it stays connected and does not answer. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child?.process.kill(signal);
  }

  /** Runs one command on a connection of its own. */
  async command(...words: [string, ...string[]]): Promise<unknown> {
    const redis = new Redis(this.url);
    try {
      return await redis.call(...words);
    } finally {
      redis.disconnect();
    }
  }

  async stop(): Promise<void> {
    await this.kill('SIGKILL');
    await rm(this.#folder, { recursive: true, force: true });
  }
}
