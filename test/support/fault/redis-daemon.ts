import { appendFile, mkdtemp, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { Child } from '../child.ts';
import { durable } from '../redis-server.ts';
import { reapAtExit } from './reaper.ts';
import { stablePort } from './stable-port.ts';

/** How a crash in the middle of a write leaves the end of the append-only file. */
const tornTails = {
  /** A command of which a part is missing. */
  command: '*3\r\n$3\r\nSET\r\n$9\r\nnever-was\r\n$20\r\nhalf a va',
  /** A transaction without its EXEC: none of it may be applied. */
  transaction: '*1\r\n$5\r\nMULTI\r\n*3\r\n$3\r\nSET\r\n$9\r\nnever-was\r\n$3\r\nyes\r\n',
} as const;

/** What Redis may use while nothing is wrong. */
export const memoryLimit = '1gb';

export type TornTail = keyof typeof tornTails;

/** The Redis of a fault run: real, durable, and ill-treated. */
export class RedisDaemon {
  readonly port: number;
  readonly #folder: string;
  #child: Child | undefined;

  private constructor(port: number, folder: string) {
    this.port = port;
    this.#folder = folder;
  }

  static async start(folder: string): Promise<RedisDaemon> {
    const redis = new RedisDaemon(await stablePort(), await mkdtemp(join(folder, 'redis-')));
    await redis.startAgain();
    return redis;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Resolves once it has loaded its data and takes commands. Does nothing while it runs. */
  async startAgain(): Promise<void> {
    if (this.#child !== undefined) return;
    const place = [
      '--port',
      String(this.port),
      '--bind',
      '127.0.0.1',
      '--dir',
      this.#folder,
      '--save',
      '',
      '--maxmemory',
      memoryLimit,
    ];
    this.#child = new Child('redis-server', [...place, ...durable]);
    reapAtExit(this.#child.process);
    await this.#child.line(/Ready to accept connections/);
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    await child?.kill(signal);
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child?.process.kill(signal);
  }

  /**
   * What a crash in mid-write leaves behind. Only bytes that nobody has an acknowledgement for are
   * torn.
   */
  async tearTail(how: TornTail): Promise<void> {
    const folder = join(this.#folder, 'appendonlydir');
    const files = (await readdir(folder)).filter((name) => name.endsWith('.incr.aof')).sort();
    const last = files.at(-1);
    if (last === undefined) throw new Error('redis has no append-only file');
    await appendFile(join(folder, last), tornTails[how]);
  }

  /** Runs commands on a connection of their own. */
  async commands<T>(work: (redis: Redis) => Promise<T>): Promise<T> {
    const redis = new Redis(this.url, { maxRetriesPerRequest: 0, retryStrategy: () => null, connectTimeout: 2_000 });
    redis.on('error', () => undefined);
    try {
      return await work(redis);
    } finally {
      redis.disconnect();
    }
  }
}
