import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { Child } from './child.ts';
import { freePort } from './free-port.ts';
import { memoryFolder } from './memory-folder.ts';

export const durable = ['--appendonly', 'yes', '--appendfsync', 'always', '--maxmemory-policy', 'noeviction'];

/**
 * Arguments of a member of a Redis Cluster. Redis takes its own port + 10,000 for the bus unless
 * told otherwise, and that port may be in use.
 */
export const clustered = (busPort: number): string[] => [
  ...durable,
  '--cluster-enabled',
  'yes',
  '--cluster-announce-ip',
  '127.0.0.1',
  '--cluster-port',
  String(busPort),
];

/** A real Redis on a free port. It can be stopped and started again on its data. */
export class RedisServer {
  readonly port: number;
  /** Where its data is. */
  readonly folder: string;
  readonly #args: string[];
  #child: Child | undefined;

  private constructor(port: number, folder: string, args: string[]) {
    this.port = port;
    this.folder = folder;
    this.#args = args;
  }

  /** `parent`: where the folder of its data is made. */
  static async start(args: string[] = durable, parent = memoryFolder()): Promise<RedisServer> {
    const server = new RedisServer(await freePort(), await mkdtemp(join(parent, 'runledger-redis-')), args);
    await server.startAgain();
    return server;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /**
   * Resolves once it has loaded its data and takes commands. With other arguments it is another
   * server at the same address.
   */
  async startAgain(args = this.#args): Promise<void> {
    const place = ['--port', String(this.port), '--bind', '127.0.0.1', '--dir', this.folder, '--save', ''];
    this.#child = new Child('redis-server', [...place, ...args]);
    await this.#child.line(/Ready to accept connections/);
  }

  /** Ends the server and keeps its data. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    await this.#child?.kill(signal);
  }

  /** Freezes or wakes the server: it stays connected and does not answer. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child?.process.kill(signal);
  }

  /** Works on a connection of its own. Rejects at once when Redis cannot be reached. */
  async use<T>(work: (redis: Redis) => Promise<T>): Promise<T> {
    const redis = new Redis(this.url, {
      maxRetriesPerRequest: 0,
      retryStrategy: () => null,
      connectTimeout: 30_000,
    });
    redis.on('error', () => undefined);
    try {
      return await work(redis);
    } finally {
      redis.disconnect();
    }
  }

  /** Runs one command. */
  command(...words: [string, ...string[]]): Promise<unknown> {
    return this.use((redis) => redis.call(...words));
  }

  /** Bytes in use, and `maxmemory`. */
  async memory(): Promise<{ used: number; limit: number }> {
    const info = await this.use((redis) => redis.info('memory'));
    const figure = (name: string): number => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1]);
    return { used: figure('used_memory'), limit: figure('maxmemory') };
  }

  async stop(): Promise<void> {
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
  }
}
