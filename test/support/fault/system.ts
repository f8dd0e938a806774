import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { Client, type ClientConfig } from 'pg';
import { secretManifest } from '../../../internal/cluster/tokens/manifest.ts';
import { Forwarder } from '../forwarder.ts';
import { freePort } from '../free-port.ts';
import { memoryFolder } from '../memory-folder.ts';
import { PostgresServer, query } from '../postgres-server.ts';
import { jobCounts } from '../queue.ts';
import { durable, RedisServer } from '../redis-server.ts';
import { until } from '../until.ts';
import { audit, type Audit } from './audit.ts';
import { Balancer } from './balancer.ts';
import { Load, type LoadOptions } from './load.ts';
import { Pod } from './pod.ts';
import { seedOfRun } from './random.ts';
import { SmallDisk } from './small-disk.ts';
import { Timeline } from './timeline.ts';
import { TokenApi } from './token-api.ts';
import { organization, token, tokenEntries } from './tokens.ts';

export interface SystemOptions {
  /** Settings of the workers beside those that all have. */
  worker?: Record<string, string>;
  /** Ingest reads its tokens from an API server, which can be kept away. */
  tokenApi?: boolean;
  /** Declarations for a controller. Without them there is none. */
  automations?: string;
}

export const slotNames = ['ingest-1', 'ingest-2', 'worker-1', 'worker-2'] as const;
export type SlotName = (typeof slotNames)[number];

/** What Redis may use while nothing is wrong. */
export const memoryLimit = '1gb';

const redisArguments = [...durable, '--maxmemory', memoryLimit];
const postgresArguments = ['-c', 'max_connections=40', '-c', 'deadlock_timeout=200ms', '-c', 'max_wal_size=256MB'];

/** All of Runledger as a cluster runs it: real processes, and networks between them to break. */
export class System {
  readonly redis: RedisServer;
  readonly postgres: PostgresServer;
  readonly balancer = new Balancer(token);
  /** The disk of today's events; undefined where this process may not mount one. */
  readonly disk: SmallDisk | undefined;
  readonly timeline = new Timeline();
  /** With the logs of the pods. */
  readonly folder: string;
  readonly #options: SystemOptions;
  #tokenApi: TokenApi | undefined;
  #controller: Pod | undefined;
  /** Shards of the queue beside the one Redis: those that take events, and former ones. */
  #shards: { taking: readonly RedisServer[]; drained: readonly RedisServer[] } = { taking: [], drained: [] };
  readonly #slots = new Map<SlotName, Pod>();
  #podsStarted = 0;
  #crashesOfRetired = 0;

  private constructor(
    folder: string,
    servers: [RedisServer, PostgresServer],
    disk: SmallDisk | undefined,
    options: SystemOptions,
  ) {
    this.folder = folder;
    [this.redis, this.postgres] = servers;
    this.disk = disk;
    this.#options = options;
  }

  static async start(options: SystemOptions = {}): Promise<System> {
    const folder = await mkdtemp(join(memoryFolder(), 'runledger-fault-'));
    // Postgres runs as another user and must be able to pass.
    await chmod(folder, 0o755);
    const starting = [
      RedisServer.start(redisArguments, folder),
      PostgresServer.start(postgresArguments, folder),
    ] as const;
    const servers = await Promise.all(starting);
    const disk = await SmallDisk.mount(join(folder, 'small-disk'), servers[1].user);
    const system = new System(folder, servers, disk, options);
    await system.#deploy();
    return system;
  }

  /** The pod that fills a slot now. */
  pod(slot: SlotName): Pod {
    const pod = this.#slots.get(slot);
    if (pod === undefined) throw new Error(`no pod fills ${slot}`);
    return pod;
  }

  get hasTokenApi(): boolean {
    return this.#tokenApi !== undefined;
  }

  /** The network between ingest and its tokens. */
  get tokenNetwork(): Forwarder {
    if (this.#tokenApi === undefined) throw new Error('ingest reads its tokens from a file');
    return this.#tokenApi.network;
  }

  /** Times that a process ended by itself. */
  get crashes(): number {
    return this.#pods().reduce((sum, pod) => sum + pod.crashes, this.#crashesOfRetired);
  }

  /** Replaces a pod as a Deployment does: the new one is ready before the old one goes. */
  async replace(slot: SlotName): Promise<void> {
    const old = this.pod(slot);
    await this.#fill(slot);
    await old.retire();
    this.balancer.remove(old);
    this.#crashesOfRetired += old.crashes;
  }

  /** One more Redis. The caller stops it. */
  startRedis(): Promise<RedisServer> {
    return RedisServer.start(redisArguments, this.folder);
  }

  /** Gives pods these shards of the queue beside the one Redis, as a rollout does. */
  async useShards(
    taking: readonly RedisServer[],
    drained: readonly RedisServer[] = [],
    slots: readonly SlotName[] = slotNames,
  ): Promise<void> {
    this.#shards = { taking, drained };
    for (const slot of slots) await this.replace(slot);
  }

  /** True once each ingest can put events into so many shards. */
  async admits(shards: number): Promise<boolean> {
    const ingests = slotNames.filter((slot) => slot.startsWith('ingest')).map((slot) => this.pod(slot));
    const found = await Promise.all(ingests.map((pod) => pod.metric('runledger_shard_admitting')));
    return found.every((count) => count === shards);
  }

  startLoad(options: Partial<LoadOptions> & { rate: number }): Load {
    return new Load(this.balancer, { seed: seedOfRun(), ...options });
  }

  /** Ends a load, waits until the queue is empty, and compares the ledger with Postgres. */
  async settle(load: Load): Promise<{ found: Audit; drainMs: number }> {
    await load.stop();
    const begun = performance.now();
    await this.drained();
    const drainMs = performance.now() - begun;
    const found = await audit(load.ledger, this, load.automations.ids, organization);
    const torn = await load.messages.audit(this);
    found.wrong += torn.length;
    found.findings.push(...torn.slice(0, 10));
    return { found, drainMs };
  }

  async drained(): Promise<void> {
    const all = [this.redis, ...this.#shards.taking, ...this.#shards.drained];
    const jobs = async (): Promise<number> => {
      const counts = await Promise.all(all.map((redis) => jobCounts(redis)));
      return counts.flatMap((states) => Object.values(states)).reduce((sum, count) => sum + count, 0);
    };
    await until('the queue is empty', async () => (await jobs()) === 0, 120_000);
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

  /** Ends everything. The folder with the logs stays when the run failed. */
  async stop(keepFolder = false): Promise<void> {
    await this.balancer.stop();
    await Promise.all(this.#pods().map((pod) => pod.retire(10_000)));
    await this.#tokenApi?.stop();
    await Promise.all([this.redis.kill(), this.postgres.kill()]);
    await this.disk?.unmount();
    if (!keepFolder) await rm(this.folder, { recursive: true, force: true });
  }

  async #deploy(): Promise<void> {
    await writeFile(this.#tokensFile, secretManifest({ organization, entries: tokenEntries }));
    await this.postgres.query('create role runledger login');
    await this.postgres.query('create database runledger owner runledger');
    const env = { ...process.env, DATABASE_URL: this.#databaseUrl(this.postgres.port), LOG_LEVEL: 'warn' };
    const cwd = join(import.meta.dirname, '../../..');
    await promisify(execFile)(process.execPath, ['cmd/admin/main.ts', 'migrate'], { cwd, env });
    await mkdir(this.witnessFolder);
    if (this.#options.tokenApi === true) {
      this.#tokenApi = await TokenApi.start(this.folder, organization, tokenEntries);
    }
    await Promise.all(slotNames.map((slot) => this.#fill(slot)));
    if (this.#options.automations !== undefined) await this.#startController(this.#options.automations);
    if (this.disk !== undefined) await this.#putTodayOn(this.disk);
  }

  async #putTodayOn({ folder }: SmallDisk): Promise<void> {
    const table = `events_${new Date().toISOString().slice(0, 10).replaceAll('-', '')}`;
    const find = `select 1 from pg_class where relname = '${table}'`;
    await until('today has a partition', async () => (await this.query(find)).length > 0);
    await this.query(`create tablespace small location '${folder}'`);
    await this.query(`alter table ${table} set tablespace small`);
  }

  async #fill(slot: SlotName): Promise<void> {
    this.#podsStarted += 1;
    const isIngest = slot.startsWith('ingest');
    const [port, opsPort] = [await freePort(), await freePort()];
    const redis = await Forwarder.start(this.redis.port);
    const other = await Forwarder.start(isIngest ? port : this.postgres.port);
    const forIngest = {
      PORT: String(port),
      ...(this.#tokenApi?.environment ?? { TOKENS_FILE: this.#tokensFile }),
      REQUIRE_DURABLE_REDIS: 'true',
      // As in a rollout: some jobs have digests.
      LEDGER_DIGESTS: String(slot === 'ingest-1'),
    };
    const [taking, drained] = [this.#shards.taking, this.#shards.drained].map((all) => all.map(({ url }) => url));
    const forWorker = {
      DATABASE_URL: this.#databaseUrl(other.port),
      REDIS_DRAIN_URL: drained?.join(' ') ?? '',
      LEDGER_WITNESSES: pathToFileURL(this.witnessFolder).href,
      ...this.#options.worker,
    };
    const addresses = [`redis://127.0.0.1:${redis.port}`, ...(taking ?? [])];
    const environment = { OPS_PORT: String(opsPort), REDIS_URL: addresses.join(' ') };
    const pod = new Pod({
      name: `${slot}.${this.#podsStarted}`,
      kind: isIngest ? 'ingest' : 'worker',
      environment: { ...environment, ...(isIngest ? forIngest : forWorker) },
      links: isIngest ? { redis, front: other } : { redis, postgres: other },
      folder: this.folder,
      timeline: this.timeline,
    });
    await pod.ready();
    if (isIngest) await this.balancer.add(pod);
    this.#slots.set(slot, pod);
  }

  /** It stays where it is and is struck by no fault; its servers are. */
  async #startController(automations: string): Promise<void> {
    const path = join(this.folder, 'automations.yaml');
    await writeFile(path, automations);
    const environment = {
      OPS_PORT: String(await freePort()),
      REDIS_URL: this.redis.url,
      DATABASE_URL: this.#databaseUrl(this.postgres.port),
      AUTOMATIONS_FILE: path,
    };
    const { folder, timeline } = this;
    this.#controller = new Pod({ name: 'controller', kind: 'controller', environment, links: {}, folder, timeline });
    await this.#controller.ready();
  }

  #pods(): Pod[] {
    return [...this.#slots.values(), ...(this.#controller === undefined ? [] : [this.#controller])];
  }

  /** Where workers with a LEDGER_KEY remember the checkpoints that they sign. */
  get witnessFolder(): string {
    return join(this.folder, 'witness');
  }

  get #tokensFile(): string {
    return join(this.folder, 'tokens.yaml');
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
}
