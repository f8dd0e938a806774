import { isGiven, readConfig } from '../../internal/config/read.ts';
import type { Component } from '../../internal/lifecycle/component.ts';
import { component, ComponentGroup } from '../../internal/lifecycle/group.ts';
import { countOutcomes } from '../../internal/store/count-outcomes.ts';
import type { Database } from '../../internal/store/database.ts';
import { openEmbedded } from '../../internal/store/embedded.ts';
import { migrateToLatest } from '../../internal/store/migrate.ts';
import { describeError } from '../../internal/telemetry/logger.ts';
import { OpsServer, type OpsAddress } from '../../internal/ops/ops-server.ts';
import { failing } from '../../internal/ops/probes.ts';
import type { Telemetry } from '../../internal/telemetry/telemetry.ts';
import { createIngest, ingestSettings } from '../ingest/ingest.ts';
import { createTokenSource, tokenSettings } from '../ingest/tokens.ts';
import { databaseSettings, openDatabase } from '../worker/database.ts';
import { createWorker, workerSettings } from '../worker/worker.ts';
import { ensureCertificate } from './certificate.ts';
import type { DataFolder } from './data-folder.ts';
import { ensureDemoOrganization } from './demo-organization.ts';
import { EmbeddedRedis } from './embedded-redis.ts';
import { FolderLock } from './folder-lock.ts';

/** The addresses of a running standalone. */
export interface Addresses {
  api: string;
  plainHttp: string;
  ops: string;
}

/** No other worker exists here, so the job of a killed process may return soon. */
const standaloneDefaults = { JOB_LOCK_MS: '6000' };

/**
 * Short statements: the embedded Postgres runs them in turn, in the process that answers requests.
 */
const embeddedStore = { STORE_BATCH_EVENTS: '200', STORE_STATEMENTS_IN_FLIGHT: '1', WORKER_CONCURRENCY: '50' };

/**
 * All of Runledger in one process: the ingest, queue and worker of a cluster, with an embedded
 * Postgres and a Redis child process unless `DATABASE_URL` and `REDIS_URL` name real servers.
 */
export class Standalone implements Component {
  readonly name = 'standalone';
  readonly #folder: DataFolder;
  readonly #where: OpsAddress;
  readonly #telemetry: Telemetry;
  readonly #parts: ComponentGroup;

  constructor(folder: DataFolder, where: OpsAddress, telemetry: Telemetry) {
    this.#folder = folder;
    this.#where = where;
    this.#telemetry = telemetry;
    this.#parts = new ComponentGroup(this.name, [], telemetry.logger);
  }

  /** The addresses; undefined until `start` resolves. */
  addresses: Addresses | undefined;

  /** @throws the error of the first part that fails; the others are stopped again. */
  async start(): Promise<void> {
    try {
      await this.#startAll();
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  stop(): Promise<void> {
    return this.#parts.stop();
  }

  async #startAll(): Promise<void> {
    await this.#parts.begin(new FolderLock(this.#folder.root, this.#folder.socket('lock')));
    const [redis, db] = await Promise.all([
      this.#startRedis(),
      this.#openDatabase(),
      ensureCertificate(this.#folder),
      ensureDemoOrganization(this.#folder),
    ]);
    const { probes, registry } = this.#telemetry;
    const pages = {
      '/outcomes': (query: URLSearchParams) => countOutcomes(db, query.getAll('automation')),
    };
    const ops = new OpsServer(this.#where, probes, registry, pages);
    await this.#parts.begin(ops);
    await this.#startWorker(redis, db);
    const addresses = await this.#startIngest(redis);
    if ('redis' in failing(probes.ready) && isGiven('REDIS_URL')) throw new Error('REDIS_URL: Redis does not answer');
    this.addresses = { ...addresses, ops: `http://localhost:${ops.port}` };
  }

  /** The settings that lead to the Redis in use. */
  async #startRedis(): Promise<{ REDIS_URL?: string }> {
    if (isGiven('REDIS_URL')) return {};
    const socket = this.#folder.socket('redis');
    await this.#parts.begin(new EmbeddedRedis(this.#folder.redis, socket, this.#telemetry.logger));
    return { REDIS_URL: socket };
  }

  async #openDatabase(): Promise<Database> {
    const given = isGiven('DATABASE_URL');
    const db = given
      ? openDatabase(readConfig(databaseSettings), this.#telemetry.logger)
      : await openEmbedded(this.#folder.postgres);
    await this.#parts.begin(component('database', { stop: () => db.destroy() }));
    await migrateToLatest(db, { concurrently: given }).catch((error: unknown) => {
      throw given ? new Error(`DATABASE_URL: ${describeError(error).message}`, { cause: error }) : error;
    });
    return db;
  }

  async #startWorker(redis: { REDIS_URL?: string }, db: Database): Promise<void> {
    const defaults = { ...standaloneDefaults, ...redis, ...(!isGiven('DATABASE_URL') && embeddedStore) };
    // Readiness is about requests, which are accepted without Postgres.
    const probes = { ...this.#telemetry.probes, ready: new Map() };
    const config = readConfig(workerSettings, undefined, defaults);
    await this.#parts.begin(createWorker(config, db, { ...this.#telemetry, probes }));
  }

  async #startIngest(redis: { REDIS_URL?: string }): Promise<Omit<Addresses, 'ops'>> {
    const { HTTPS_PORT: port = 8443 } = readConfig(['HTTPS_PORT']);
    const defaults = {
      ...redis,
      HTTPS_PORT: String(port),
      ...(this.#where.LISTEN_ADDRESS !== undefined && { LISTEN_ADDRESS: this.#where.LISTEN_ADDRESS }),
      PUBLIC_URL: `https://localhost:${port}`,
      TLS_CERT_FILE: this.#folder.certificate,
      TLS_KEY_FILE: this.#folder.key,
      TOKENS_FILE: this.#folder.tokens,
    };
    const config = readConfig([...ingestSettings, ...tokenSettings], undefined, defaults);
    const ingest = createIngest(config, createTokenSource(config, this.#telemetry), this.#telemetry);
    await this.#parts.begin(ingest.component);
    const [http, https] = ingest.servers;
    return { api: `https://localhost:${https?.port}`, plainHttp: `http://localhost:${http?.port}` };
  }
}
