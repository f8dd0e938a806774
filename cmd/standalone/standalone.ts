import { ConfigError, isGiven, readConfig } from '../../internal/config/read.ts';
import type { SettingName } from '../../internal/config/settings.ts';
import type { Component } from '../../internal/kit/lifecycle/component.ts';
import { component, ComponentGroup } from '../../internal/kit/lifecycle/group.ts';
import type { Database } from '../../internal/store/database.ts';
import { openEmbedded } from '../../internal/store/embedded.ts';
import { migrateToLatest } from '../../internal/store/migrate.ts';
import { describeError } from '../../internal/kit/telemetry/logger.ts';
import { OpsServer, type OpsAddress } from '../../internal/kit/ops/ops-server.ts';
import { failing } from '../../internal/kit/ops/probes.ts';
import { apiMetrics, type ApiMetrics } from '../../internal/intake/http/api-metrics.ts';
import { notifyMetrics } from '../../internal/controller/notify/notify-metrics.ts';
import type { Telemetry } from '../../internal/kit/telemetry/telemetry.ts';
import type { TokenSource } from '../../internal/cluster/tokens/token-source.ts';
import { controllerSettings, createController } from '../controller/controller.ts';
import { declarationSettings } from '../controller/declaration-settings.ts';
import { createDeclarationSource, followDeclarations } from '../controller/declarations.ts';
import { consoleUrl, createNotifier, notifierSettings } from '../controller/notifier.ts';
import { AddressKeeper } from '../../internal/controller/notify/address-keeper.ts';
import { createOwnedTokens, ownerSettings } from '../controller/tokens.ts';
import { OneTimeLink } from '../../internal/login/one-time-link.ts';
import { createIngest, ingestSettings } from '../ingest/ingest.ts';
import { createTokenSource, tokenSettings } from '../../internal/wiring/tokens.ts';
import { openDatabase } from '../../internal/wiring/databases.ts';
import { workerDatabase } from '../worker/service.ts';
import { createWorker, workerSettings } from '../worker/worker.ts';
import { createStandaloneConsole, openOwnDatabase } from './console.ts';
import { shown } from './shown-path.ts';
import { ensureCertificate } from './certificate.ts';
import type { DataFolder } from './data-folder.ts';
import { ensureDemoOrganization } from './demo-organization.ts';
import { EmbeddedRedis } from './embedded-redis.ts';
import { FolderLock } from './folder-lock.ts';

/** The addresses of a running standalone. */
export interface Addresses {
  api: string;
  plainHttp: string;
  console: string;
  /** Logs in to the console, once. */
  login: string;
  ops: string;
}

/** There is no other worker, so the jobs of a killed process may return soon. */
const standaloneDefaults = { JOB_LOCK_MS: '6000' };

/**
 * Short statements: the embedded Postgres runs them in turn, in the process that answers requests.
 */
const embeddedStore = { STORE_BATCH_EVENTS: '200', STORE_STATEMENTS_IN_FLIGHT: '1', WORKER_CONCURRENCY: '50' };

/**
 * All of Runledger in one process: the ingest, queue, worker and console of a cluster, with an
 * embedded Postgres and a Redis child process unless `DATABASE_URL` and `REDIS_URL` name real
 * servers.
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

  /** @throws the error of the first part that fails, once the others are stopped again. */
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
    const ops = new OpsServer(this.#where, probes, registry);
    await this.#parts.begin(ops);
    await this.#startWorker(redis, db);
    const requests = apiMetrics(registry);
    const tokens = createTokenSource(
      readConfig(tokenSettings, undefined, { TOKENS_FILE: this.#folder.tokens }),
      this.#telemetry,
    );
    const addresses = await this.#startIngest(redis, tokens, requests);
    const link = new OneTimeLink('demo');
    await this.#startController(redis, db, link);
    const console = await this.#startConsole(db, tokens, link, requests, new URL(addresses.api));
    if ('redis' in failing(probes.ready) && isGiven('REDIS_URL')) throw new Error('REDIS_URL: Redis does not answer');
    this.addresses = { ...addresses, ...console, ops: `http://localhost:${ops.port}` };
  }

  /** The settings that lead to the Redis in use. */
  async #startRedis(): Promise<{ REDIS_URL?: string }> {
    if (isGiven('REDIS_URL')) return {};
    const socket = this.#folder.socket('redis');
    await this.#parts.begin(new EmbeddedRedis(this.#folder.redis, socket, this.#telemetry.logger));
    return { REDIS_URL: socket };
  }

  async #openDatabase(): Promise<Database> {
    if (isGiven('DATABASE_URLS')) throw new ConfigError('DATABASE_URLS is for the processes of a cluster: unset it');
    const given = isGiven('DATABASE_URL');
    const db = given
      ? openDatabase(readConfig(['DATABASE_URL']).DATABASE_URL, workerDatabase, this.#telemetry.logger)
      : await openEmbedded(this.#folder.postgres);
    await this.#parts.begin(component('database', { stop: () => db.destroy() }));
    await migrateToLatest(db, { concurrently: given }).catch((error: unknown) => {
      throw given ? new Error(`DATABASE_URL: ${describeError(error).message}`, { cause: error }) : error;
    });
    return db;
  }

  async #startWorker(redis: { REDIS_URL?: string }, db: Database): Promise<void> {
    const defaults = { ...standaloneDefaults, ...redis, ...(!isGiven('DATABASE_URL') && embeddedStore) };
    // Readiness concerns requests, which are accepted without Postgres.
    const probes = { ...this.#telemetry.probes, ready: new Map() };
    const config = readConfig(workerSettings, undefined, defaults);
    await this.#parts.begin(createWorker(config, db, { ...this.#telemetry, probes }));
  }

  async #startIngest(
    redis: { REDIS_URL?: string },
    tokens: TokenSource,
    requests: ApiMetrics,
  ): Promise<Pick<Addresses, 'api' | 'plainHttp'>> {
    const { HTTPS_PORT: port = 8443 } = readConfig(['HTTPS_PORT']);
    const defaults = {
      ...redis,
      ...this.#serverDefaults(),
      HTTPS_PORT: String(port),
      PUBLIC_URL: `https://localhost:${port}`,
    };
    const config = readConfig(ingestSettings, undefined, defaults);
    const ingest = createIngest(config, tokens, this.#telemetry, requests);
    await this.#parts.begin(ingest.component);
    const [http, https] = ingest.servers;
    return { api: `https://localhost:${https?.port}`, plainHttp: `http://localhost:${http?.port}` };
  }

  async #startController(redis: { REDIS_URL?: string }, db: Database, link: OneTimeLink): Promise<void> {
    // Readiness concerns requests, which are accepted without verdicts.
    const probes = { ...this.#telemetry.probes, ready: new Map() };
    const telemetry = { ...this.#telemetry, probes };
    const config = readConfig([...controllerSettings, ...notifierSettings, 'LEDGER_KEY'], undefined, redis);
    const declared = readConfig(declarationSettings, undefined, { AUTOMATIONS_FILE: this.#folder.automations });
    const source = await createDeclarationSource(declared, db, telemetry);
    const metrics = notifyMetrics(telemetry.registry);
    const owned = readConfig([...ownerSettings, ...tokenSettings, 'LEDGER_KEY'], undefined, {
      TOKENS_FILE: this.#folder.tokens,
    });
    const owners = await createOwnedTokens(owned, link);
    const links = consoleUrl() ?? new URL(`https://localhost:${readConfig(['CONSOLE_PORT']).CONSOLE_PORT}`);
    const keeper = owners && new AddressKeeper({ db, store: owners.keys, logger: telemetry.logger });
    const secretsOf = (channel: Parameters<typeof source.secretsOf>[0]) => source.secretsOf(channel);
    const notifier = createNotifier(config, { db }, links, secretsOf, telemetry, metrics, keeper);
    const listeners = [followDeclarations(source), notifier];
    await this.#parts.begin(
      createController(
        config,
        {
          databases: [{ db, listeners }],
          databaseOf: () => db,
          sources: [source, ...(keeper ? [keeper] : []), notifier],
          tokens: owners,
        },
        telemetry,
      ),
    );
  }

  async #startConsole(
    db: Database,
    tokens: TokenSource,
    oneTimeLink: OneTimeLink,
    requests: ApiMetrics,
    ingestUrl: URL,
  ): Promise<Pick<Addresses, 'console' | 'login'>> {
    const { logger } = this.#telemetry;
    const own = openOwnDatabase(logger);
    if (own !== undefined) {
      await this.#parts.begin(component('console database', { stop: () => own.db.destroy() }));
    }
    const defaults = this.#serverDefaults();
    const files = { certificate: shown(this.#folder.certificate), token: shown(this.#folder.demoToken) };
    const made = createStandaloneConsole(
      { db, own, tokens, oneTimeLink, requests, telemetry: this.#telemetry, ingestUrl, files },
      defaults,
    );
    await this.#parts.begin(made.component);
    const console = `https://localhost:${made.port()}`;
    return { console, login: `${console}/once/${oneTimeLink.secret}` };
  }

  /** What the servers of ingest and the console share: the address and the certificate. */
  #serverDefaults(): Partial<Record<SettingName, string>> {
    const { LISTEN_ADDRESS } = this.#where;
    return {
      ...(LISTEN_ADDRESS !== undefined && { LISTEN_ADDRESS }),
      TLS_CERT_FILE: this.#folder.certificate,
      TLS_KEY_FILE: this.#folder.key,
    };
  }
}
