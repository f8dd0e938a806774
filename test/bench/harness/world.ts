import { glob, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Redis } from 'ioredis';
import { migrateToLatest } from '../../../internal/store/migrate.ts';
import { createStore } from '../../../internal/store/store.ts';
import type { Cgroup } from '../../support/cgroup.ts';
import { PostgresServer, query } from '../../support/postgres-server.ts';
import { RedisServer } from '../../support/redis-server.ts';
import { openDatabase } from '../../support/store.ts';
import { until } from '../../support/until.ts';
import { cpuTime, cpuTimeOfFamily } from './cpu.ts';
import { Program, root } from './program.ts';
import { pingKey, readToken, token } from './wrk.ts';

/**
 * Settings of a server that keeps its promises, with room for this load. The same for every side.
 */
const postgresSettings = [
  'fsync=on',
  'synchronous_commit=on',
  'shared_buffers=512MB',
  'max_wal_size=4GB',
  'checkpoint_timeout=15min',
  'track_commit_timestamp=on',
].flatMap((setting) => ['-c', setting]);

const manifest = `kind: Secret
metadata:
  name: runledger-acme
  labels: { runledger.dev/organization: acme }
stringData: { token-1: ${token}, read-1: ${readToken}, ping-1: ${pingKey} }
`;

interface Servers {
  redis: RedisServer;
  postgres: PostgresServer;
}

/** The main process of each. */
type Pids = Record<keyof Servers, number>;

/** The servers that every side shares, and all processes of a run: nothing of them outlives it. */
export class World implements AsyncDisposable {
  readonly redis: Redis;
  readonly redisUrl: string;
  readonly tokensFile: string;
  /** For files of the run. */
  readonly folder: string;
  readonly #servers: Servers;
  readonly #pids: Pids;
  readonly #programs = new Set<Program>();

  private constructor(folder: string, servers: Servers, pids: Pids) {
    this.folder = folder;
    this.#servers = servers;
    this.#pids = pids;
    this.tokensFile = join(folder, 'tokens.yaml');
    this.redisUrl = servers.redis.url;
    this.redis = new Redis(this.redisUrl);
  }

  static async start(): Promise<World> {
    const folder = await mkdtemp(join(tmpdir(), 'runledger-bench-'));
    await writeFile(join(folder, 'tokens.yaml'), manifest);
    const [redis, postgres] = await Promise.all([RedisServer.start(), PostgresServer.start(postgresSettings)]);
    const [first] = await postgres.query(
      `select split_part(pg_read_file('postmaster.pid'), e'\\n', 1)::integer as pid`,
    );
    const info = String(await redis.command('info', 'server'));
    const pids = { redis: Number(/^process_id:(\d+)/m.exec(info)?.[1]), postgres: Number(first?.['pid']) };
    return new World(folder, { redis, postgres }, pids);
  }

  /** The address of a new database with the schema and the partitions that a worker makes. */
  async createDatabase(): Promise<string> {
    const url = await this.#servers.postgres.createDatabase();
    const db = openDatabase(url, 60_000);
    try {
      await migrateToLatest(db);
      await createStore(db, { partitionsAhead: 1, retentionDays: 0, overdueAfterHours: 24 }).maintain();
    } finally {
      await db.destroy();
    }
    return url;
  }

  /** The address of a new database without tables. */
  emptyDatabase(): Promise<string> {
    return this.#servers.postgres.createDatabase();
  }

  /** Starts a process that ends with the run at the latest. */
  program(
    main: string,
    environment: Record<string, string>,
    options?: readonly string[],
    args?: readonly string[],
    group?: Cgroup,
  ): Program {
    const program = Program.start(main, environment, options, args, group);
    this.#programs.add(program);
    return program;
  }

  /**
   * Starts a process with a full compile cache, as the build of the image leaves it: without it a
   * start takes 15 MB more.
   */
  async warmProgram(main: string, environment: Record<string, string>, options?: readonly string[]): Promise<Program> {
    // Each ends at once: main.ts because its settings are missing.
    for await (const file of glob(`${dirname(main)}/*.ts`, { cwd: root }))
      await this.program(file, {}, options).ended();
    return this.program(main, environment, options);
  }

  async end(program: Program): Promise<void> {
    await program.kill();
    this.#programs.delete(program);
  }

  /** Takes what waits out of every queue, and leaves what the queues are made of. */
  async emptyQueues(): Promise<void> {
    const keys = (await this.redis.keys('*')).filter((key) => !key.endsWith(':meta'));
    while (keys.length > 0) await this.redis.unlink(keys.splice(0, 10_000));
  }

  /** Empties the tables, and has Postgres write down what is pending from earlier loads. */
  async emptyTables(database: string): Promise<void> {
    await this.postgresIdle();
    await query(database, 'truncate events, executions, running_executions');
    await this.checkpoint(database);
  }

  /** Has Postgres write down what is pending from earlier loads. */
  async checkpoint(database: string): Promise<void> {
    await query(database, 'checkpoint');
  }

  /** Resolves once no statement is under way: the end of a load leaves some behind. */
  async postgresIdle(): Promise<void> {
    const text = `select 1 from pg_stat_activity
      where backend_type = 'client backend' and state <> 'idle' and pid <> pg_backend_pid()`;
    const idle = async (): Promise<true | undefined> =>
      (await this.#servers.postgres.query(text)).length === 0 ? true : undefined;
    await until('no statement is under way', idle, 60_000);
  }

  redisCpu(): Promise<number> {
    return cpuTime(this.#pids.redis);
  }

  /** With all of its backends. */
  postgresCpu(): Promise<number> {
    return cpuTimeOfFamily(this.#pids.postgres);
  }

  /**
   * Resolves with what `work` gives, and the longest that Redis waited for its disk meanwhile, in
   * ms.
   */
  async notingFsyncs<T>(work: () => Promise<T>): Promise<[T, number]> {
    await this.redis.config('SET', 'latency-monitor-threshold', 1);
    await this.redis.call('LATENCY', 'RESET');
    const done = await work();
    const spikes = (await this.redis.call('LATENCY', 'LATEST')) as [
      name: string,
      at: number,
      last: number,
      longest: number,
    ][];
    const longest = spikes.find(([name]) => name === 'aof-fsync-always')?.[3];
    return [done, longest ?? 0];
  }

  /** What Redis uses for data and buffers, in bytes. */
  async redisMemory(): Promise<number> {
    return Number(/^used_memory:(\d+)/m.exec(await this.redis.info('memory'))?.[1]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.redis.disconnect();
    await Promise.all([...this.#programs].map((program) => this.end(program)));
    await Promise.all([this.#servers.redis.stop(), this.#servers.postgres.stop()]);
    await rm(this.folder, { recursive: true, force: true });
  }
}
