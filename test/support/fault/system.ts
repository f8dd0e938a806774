import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client, type ClientConfig } from 'pg';
import { Forwarder } from '../forwarder.ts';
import { freePort } from '../free-port.ts';
import { PostgresServer, query } from '../postgres-server.ts';
import { jobCounts } from '../queue.ts';
import { durable, RedisServer } from '../redis-server.ts';
import { until } from '../until.ts';
import { Front } from './front.ts';
import { Pod } from './pod.ts';
import { SmallDisk } from './small-disk.ts';
import type { Timeline } from './timeline.ts';

const run = promisify(execFile);

export const organization = 'acme';
export const token = 'fault-token-of-acme-0123456789';
export const queueName = 'events';

export type SlotName = 'ingest-1' | 'ingest-2' | 'worker-1' | 'worker-2';
export const slotNames: readonly SlotName[] = ['ingest-1', 'ingest-2', 'worker-1', 'worker-2'];

/** Settings of pods beside those that wire them together. */
export interface SystemOptions {
  timeline: Timeline;
  ingest?: Record<string, string>;
  worker?: Record<string, string>;
  /**
   * Longest that the proxy waits for an answer of ingest, in ms; twice what the slowest 503 takes,
   * unless set.
   */
  proxyPatienceMs?: number;
}

const proxyPatience = 4_000;

/** What Redis may use while nothing is wrong. */
export const memoryLimit = '1gb';

const settings = ['max_connections=40', 'deadlock_timeout=200ms', 'max_wal_size=256MB'].flatMap((setting) => [
  '-c',
  setting,
]);

/**
 * The whole of Runledger as it runs in a cluster, each process a real one, with a network of the
 * harness between them.
 */
export class System {
  readonly redis: RedisServer;
  readonly postgres: PostgresServer;
  readonly front: Front;
  readonly disk: SmallDisk | undefined;
  readonly timeline: Timeline;
  readonly folder: string;
  readonly #options: SystemOptions;
  readonly #slots = new Map<SlotName, Pod>();
  #generation = 0;
  #crashesOfRetired = 0;

  private constructor(
    folder: string,
    redis: RedisServer,
    postgres: PostgresServer,
    disk: SmallDisk | undefined,
    options: SystemOptions,
  ) {
    this.folder = folder;
    this.redis = redis;
    this.postgres = postgres;
    this.disk = disk;
    this.timeline = options.timeline;
    this.front = new Front(options.proxyPatienceMs ?? proxyPatience);
    this.#options = options;
  }

  static async start(options: SystemOptions): Promise<System> {
    const folder = await mkdtemp(join(memoryOrDisk(), 'runledger-fault-'));
    // Postgres runs as another user and must be able to pass.
    await chmod(folder, 0o755);
    await writeFile(join(folder, 'tokens.yaml'), tokens);
    const [redis, postgres] = await Promise.all([
      RedisServer.start([...durable, '--maxmemory', memoryLimit], folder),
      PostgresServer.start(settings, folder),
    ]);
    const disk = await SmallDisk.mount(join(folder, 'small-disk'), postgres.user);
    const system = new System(folder, redis, postgres, disk, options);
    await system.#deploy();
    return system;
  }

  /** The pod that fills a slot now. */
  pod(slot: SlotName): Pod {
    const pod = this.#slots.get(slot);
    if (pod === undefined) throw new Error(`no pod fills ${slot}`);
    return pod;
  }

  /** Times that a process ended by itself. */
  get crashes(): number {
    return [...this.#slots.values()].reduce((sum, pod) => sum + pod.crashes, this.#crashesOfRetired);
  }

  /**
   * Replaces a pod as a Deployment with `maxSurge: 1, maxUnavailable: 0` does: the new one is ready
   * before the old one goes.
   */
  async replace(slot: SlotName): Promise<void> {
    const old = this.pod(slot);
    await this.#fill(slot);
    await old.retire();
    this.front.remove(old);
    this.#crashesOfRetired += old.crashes;
  }

  /** Jobs in Redis that are not done. */
  async backlog(): Promise<number> {
    return Object.values(await jobCounts(this.redis)).reduce((sum, count) => sum + count, 0);
  }

  /** Resolves with the ms it took until nothing was left in the queue. */
  async drained(withinMs = 120_000): Promise<number> {
    const begun = performance.now();
    await until('the backlog is empty', async () => (await this.backlog()) === 0, withinMs);
    return performance.now() - begun;
  }

  /** Ends everything. The folder with the logs stays when the run failed. */
  async stop(keepFolder = false): Promise<void> {
    await this.front.stop();
    await Promise.all([...this.#slots.values()].map((pod) => pod.retire(10_000)));
    await Promise.all([this.redis.kill(), this.postgres.kill()]);
    await this.disk?.unmount();
    if (!keepFolder) await rm(this.folder, { recursive: true, force: true });
  }

  /** One query as superuser, whatever the server's defaults have become. */
  query<Row extends object = Record<string, unknown>>(sql: string, values: unknown[] = []): Promise<Row[]> {
    return query<Row>(this.#superuser(), sql, values);
  }

  /** A connection as superuser, unless told otherwise. The caller ends it. */
  async connect(config: ClientConfig = {}): Promise<Client> {
    const client = new Client({ ...this.#superuser(), ...config });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  }

  #superuser(): ClientConfig {
    const options = '-c default_transaction_read_only=off -c statement_timeout=0 -c lock_timeout=0';
    const { port } = this.postgres;
    return {
      host: '127.0.0.1',
      port,
      user: 'postgres',
      database: 'runledger',
      options,
      connectionTimeoutMillis: 5_000,
    };
  }

  /** Workers own the database and are not superuser. */
  #databaseUrl(port: number): string {
    return `postgres://runledger@127.0.0.1:${port}/runledger`;
  }

  async #deploy(): Promise<void> {
    await this.postgres.query('create role runledger login');
    await this.postgres.query('create database runledger owner runledger');
    const environment = { ...process.env, DATABASE_URL: this.#databaseUrl(this.postgres.port), LOG_LEVEL: 'warn' };
    await run(process.execPath, ['cmd/migrate/main.ts'], {
      cwd: join(import.meta.dirname, '../../..'),
      env: environment,
    });
    await this.front.start();
    await Promise.all(slotNames.map((slot) => this.#fill(slot)));
    if (this.disk !== undefined) await this.#putTodayOnSmallDisk(this.disk);
  }

  async #putTodayOnSmallDisk(disk: SmallDisk): Promise<void> {
    const today = new Date().toISOString().slice(0, 10).replaceAll('-', '');
    const find = `select 1 from pg_class where relname = 'events_${today}'`;
    await until('today has a partition', async () => (await this.query(find)).length > 0);
    await this.query(`create tablespace small location '${disk.folder}'`);
    await this.query(`alter table events_${today} set tablespace small`);
  }

  async #fill(slot: SlotName): Promise<void> {
    this.#generation += 1;
    const name = `${slot}.${this.#generation}`;
    const pod = slot.startsWith('ingest') ? await this.#createIngest(name) : await this.#createWorker(name);
    await pod.start();
    if (slot.startsWith('ingest')) await this.front.add(pod);
    this.#slots.set(slot, pod);
  }

  async #createIngest(name: string): Promise<Pod> {
    const [port, opsPort] = [await freePort(), await freePort()];
    const [front, redis] = [await Forwarder.start(port), await Forwarder.start(this.redis.port)];
    const environment = {
      PORT: String(port),
      OPS_PORT: String(opsPort),
      PUBLIC_URL: 'https://runledger.example',
      TRUST_PROXY: 'true',
      REQUIRE_DURABLE_REDIS: 'true',
      REDIS_URL: `redis://127.0.0.1:${redis.port}`,
      TOKENS_FILE: join(this.folder, 'tokens.yaml'),
      ...this.#options.ingest,
    };
    return this.#createPod(name, 'cmd/ingest/main.ts', environment, opsPort, { front, redis });
  }

  async #createWorker(name: string): Promise<Pod> {
    const opsPort = await freePort();
    const redis = await Forwarder.start(this.redis.port);
    const postgres = await Forwarder.start(this.postgres.port);
    const environment = {
      OPS_PORT: String(opsPort),
      REDIS_URL: `redis://127.0.0.1:${redis.port}`,
      DATABASE_URL: this.#databaseUrl(postgres.port),
      ...this.#options.worker,
    };
    return this.#createPod(name, 'cmd/worker/main.ts', environment, opsPort, { redis, postgres });
  }

  #createPod(
    name: string,
    main: string,
    environment: Record<string, string>,
    opsPort: number,
    links: Record<string, Forwarder>,
  ): Pod {
    return new Pod({ name, main, environment, opsPort, links, folder: this.folder, timeline: this.timeline });
  }
}

/**
 * Processes are killed here, not machines: what was written stays, in memory as on a disk. And in
 * memory nobody else's load on the disk can stall an fsync for seconds and pass for a fault.
 */
function memoryOrDisk(): string {
  return existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
}

const tokens = `apiVersion: v1
kind: Secret
metadata:
  name: runledger-${organization}
  labels:
    runledger.dev/organization: ${organization}
stringData:
  token-1: ${token}
`;
