import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { Child } from './child.ts';
import { freePort } from './free-port.ts';
import { RedisServer } from './redis-server.ts';
import { replicasOf, replicated } from './replica.ts';
import { until } from './until.ts';

/** A `redis-sentinel` on a free port. */
export class Sentinel implements AsyncDisposable {
  readonly port: number;
  readonly #folder: string;
  readonly #child: Child;

  private constructor(port: number, folder: string, child: Child) {
    this.port = port;
    this.#folder = folder;
    this.#child = child;
  }

  /** Starts one with these lines of configuration. */
  static async start(...lines: string[]): Promise<Sentinel> {
    const folder = await mkdtemp(join(tmpdir(), 'runledger-sentinel-'));
    const port = await freePort();
    const file = join(folder, 'sentinel.conf');
    await writeFile(file, [`port ${port}`, 'bind 127.0.0.1', `dir ${folder}`, ...lines, ''].join('\n'));
    const child = new Child('redis-server', [file, '--sentinel']);
    await child.line(/Sentinel ID is/);
    return new Sentinel(port, folder, child);
  }

  /** Runs `SENTINEL` with these words. */
  async command(...words: string[]): Promise<unknown> {
    const redis = new Redis(this.port, '127.0.0.1', {
      maxRetriesPerRequest: 0,
      retryStrategy: () => null,
    });
    redis.on('error', () => undefined);
    try {
      return await redis.call('sentinel', ...words);
    } finally {
      redis.disconnect();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#child.kill('SIGKILL');
    await rm(this.#folder, { recursive: true });
  }
}

/** A master with two replicas, and three Sentinels that watch them. */
export class SentinelGroup implements AsyncDisposable {
  readonly servers: readonly RedisServer[];
  readonly #sentinels: readonly Sentinel[];

  private constructor(servers: readonly RedisServer[], sentinels: readonly Sentinel[]) {
    this.servers = servers;
    this.#sentinels = sentinels;
  }

  /** Resolves once all of them know each other. */
  static async start(): Promise<SentinelGroup> {
    const servers = await Promise.all([0, 1, 2].map(() => RedisServer.start(replicated)));
    const port = servers[0]?.port ?? 0;
    for (const replica of servers.slice(1)) await replica.command('replicaof', '127.0.0.1', String(port));
    const lines = [
      `sentinel monitor mymaster 127.0.0.1 ${port} 2`,
      'sentinel down-after-milliseconds mymaster 1000',
      'sentinel failover-timeout mymaster 5000',
    ];
    const sentinels = await Promise.all([0, 1, 2].map(() => Sentinel.start(...lines)));
    const group = new SentinelGroup(servers, sentinels);
    for (const sentinel of sentinels) {
      // An old master that is back is demoted after four periods of publishing.
      await sentinel.command('debug', 'info-period', '500', 'publish-period', '500');
      // After a pause of 2 s, as on a busy machine, a Sentinel would do nothing for 30 s.
      await sentinel.command('debug', 'tilt-trigger', '60000');
      await until('the sentinels know each other', () => group.#isComplete(sentinel));
    }
    return group;
  }

  /** The settings of processes that ask the Sentinels. */
  get settings(): { REDIS_URL: string; REDIS_SENTINELS: string } {
    const nodes = this.#sentinels.map(({ port }) => `127.0.0.1:${port}`);
    return { REDIS_URL: 'redis://mymaster', REDIS_SENTINELS: nodes.join() };
  }

  /** The server that the Sentinels name as the master. */
  async master(): Promise<RedisServer> {
    const [sentinel] = this.#sentinels;
    const address = await sentinel?.command('get-master-addr-by-name', 'mymaster');
    const [, port] = address as [string, string];
    const master = this.servers.find((server) => server.port === Number(port));
    if (master === undefined) throw new Error(`no server has the port ${port}`);
    return master;
  }

  /** Resolves with the new master, once another server than this one is it. */
  failoverFrom(old: RedisServer): Promise<RedisServer> {
    return until(
      'a failover',
      async () => {
        const master = await this.master();
        return master !== old && master;
      },
      90_000,
    );
  }

  /** Resolves once the master has both replicas. */
  async whole(): Promise<void> {
    await until('two replicas', async () => (await replicasOf(await this.master())) === 2);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([
      ...this.#sentinels.map((sentinel) => sentinel[Symbol.asyncDispose]()),
      ...this.servers.map((server) => server.stop()),
    ]);
  }

  async #isComplete(sentinel: Sentinel): Promise<boolean> {
    const words = (await sentinel.command('master', 'mymaster')) as string[];
    const figure = (name: string): number => Number(words[words.indexOf(name) + 1]);
    return figure('num-slaves') === 2 && figure('num-other-sentinels') === 2;
  }
}
