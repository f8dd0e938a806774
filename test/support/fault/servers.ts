import { PgBouncer } from '../pgbouncer.ts';
import { PostgresServer } from '../postgres-server.ts';
import { RedisCluster } from '../redis-cluster.ts';
import { RedisServer } from '../redis-server.ts';
import { SentinelGroup } from '../sentinels.ts';
import { migrate } from '../store.ts';

/** The addresses of one database: of its server, of a replica, and of a pooler before each. */
export interface Addresses {
  direct: string;
  replica: string;
  pooled: string;
  pooledReplica: string;
}

/** A Postgres with a replica, and a pooler before each of them. */
class PostgresGroup {
  readonly #servers: readonly PostgresServer[];
  readonly #poolers: readonly PgBouncer[];
  readonly #template: string;

  private constructor(servers: readonly PostgresServer[], poolers: readonly PgBouncer[], template: string) {
    this.#servers = servers;
    this.#poolers = poolers;
    this.#template = template;
  }

  static async start(): Promise<PostgresGroup> {
    const server = await PostgresServer.start();
    const replica = await server.startReplica();
    const poolers = await Promise.all([server, replica].map((one) => PgBouncer.start(one.url())));
    const template = await server.createDatabase();
    await migrate(template);
    return new PostgresGroup([server, replica], poolers, new URL(template).pathname.slice(1));
  }

  /** Makes a database with the schema. */
  async createDatabase(): Promise<Addresses> {
    const { pathname } = new URL((await this.#servers[0]?.createDatabase(this.#template)) ?? '');
    const [direct, replica] = this.#servers.map((server) => server.url(pathname.slice(1)));
    const [pooled, pooledReplica] = this.#poolers.map(({ url }) => new URL(pathname, url).href);
    return { direct: direct ?? '', replica: replica ?? '', pooled: pooled ?? '', pooledReplica: pooledReplica ?? '' };
  }

  async stop(): Promise<void> {
    await Promise.all(this.#poolers.map((pooler) => pooler.stop()));
    await Promise.all(this.#servers.map((server) => server.stop()));
  }
}

/**
 * The servers of installations, each started when one needs it. Each installation has its own queue
 * and databases.
 */
export class Servers implements AsyncDisposable {
  readonly #stack = new AsyncDisposableStack();
  readonly redis = this.#once(() => RedisServer.start());
  readonly otherRedis = this.#once(() => RedisServer.start());
  readonly cluster = this.#once(() => RedisCluster.start());
  readonly sentinels = this.#once(() => SentinelGroup.start());
  readonly first = this.#once(() => PostgresGroup.start());
  readonly eu = this.#once(() => PostgresGroup.start());

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }

  #once<Server extends AsyncDisposable | { stop(): Promise<void> }>(start: () => Promise<Server>) {
    let started: Promise<Server> | undefined;
    return (): Promise<Server> => {
      started ??= start().then((server) => {
        this.#stack.defer(() => ('stop' in server ? server.stop() : server[Symbol.asyncDispose]()));
        return server;
      });
      return started;
    };
  }
}
