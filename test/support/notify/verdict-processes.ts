import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { secretManifest } from '../../../internal/cluster/tokens/manifest.ts';
import { ApiClient } from '../api-client.ts';
import { freePort } from '../free-port.ts';
import { PostgresServer, query } from '../postgres-server.ts';
import { RedisServer } from '../redis-server.ts';
import { RunledgerProcess } from '../runledger-process.ts';
import { migrate } from '../store.ts';
import { until } from '../until.ts';
import { AlertmanagerServer } from './alertmanager-server.ts';
import { startPlainReceiver, startReceiver, type Receiver } from './receiver.ts';

const token = 'token-of-acme-for-verdicts-0123456789';

/** The automation that is declared. */
export const automation = '0b0e8a3c-6f5e-4c6b-9f0e-3f8b9a9d1c11';

const declarations = (expect: string, url: string): string => `
apiVersion: v1
kind: Namespace
metadata: { name: acme, labels: { runledger.dev/organization: acme } }
---
apiVersion: runledger.dev/v1beta1
kind: Automation
metadata: { name: invoices, namespace: acme }
spec: { automationId: ${automation}, expect: ${expect} }
---
apiVersion: runledger.dev/v1beta1
kind: Channel
metadata: { name: incidents, namespace: acme }
spec: { type: webhook, url: '${url}', secretRef: { name: key } }
---
apiVersion: v1
kind: Secret
metadata: { name: key, namespace: acme }
stringData: { secret: whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw }
`;

type Name = ConstructorParameters<typeof RunledgerProcess>[0];
type AlertRow = { id: string; kind: string; resolved_at: Date | null };

/**
 * Ingest, workers and controllers as processes of their own, with their own Redis, Postgres and
 * Alertmanager. Anything may be stopped; `stop` ends the rest.
 */
export class VerdictProcesses {
  readonly redis: RedisServer;
  readonly postgres: PostgresServer;
  readonly alertmanager: AlertmanagerServer;
  readonly receiver: Receiver;
  readonly #people: AsyncDisposable;
  readonly #folder: string;
  readonly #processes: RunledgerProcess[] = [];
  #client: ApiClient | undefined;

  private constructor(
    servers: [RedisServer, PostgresServer, AlertmanagerServer],
    receivers: { receiver: Receiver; people: AsyncDisposable },
    folder: string,
  ) {
    [this.redis, this.postgres, this.alertmanager] = servers;
    this.receiver = receivers.receiver;
    this.#people = receivers.people;
    this.#folder = folder;
  }

  /** Starts the servers and an ingest. `expect`: of the automation, as YAML. */
  static async start(expect: string, environment: Record<string, string> = {}): Promise<VerdictProcesses> {
    const folder = await mkdtemp(join(tmpdir(), 'runledger-verdicts-'));
    const [receiver, people] = await Promise.all([startReceiver(), startPlainReceiver()]);
    const alertmanager = AlertmanagerServer.start(people.url);
    const servers = await Promise.all([RedisServer.start(), PostgresServer.start(), alertmanager]);
    const world = new VerdictProcesses(servers, { receiver, people }, folder);
    await migrate(world.postgres.url());
    await writeFile(join(folder, 'ca.pem'), receiver.ca);
    await writeFile(join(folder, 'automations.yaml'), declarations(expect, receiver.url));
    await writeFile(join(folder, 'tokens.yaml'), secretManifest({ organization: 'acme', entries: { token } }));
    const port = await freePort();
    world.#client = new ApiClient(`http://127.0.0.1:${port}`, { token, 'x-forwarded-proto': 'https' });
    const own = { PORT: String(port), TOKENS_FILE: join(folder, 'tokens.yaml') };
    await world.#start('ingest', { ...own, ...environment });
    return world;
  }

  startWorker(): Promise<RunledgerProcess> {
    return this.#start('worker', {});
  }

  startController(environment: Record<string, string> = {}): Promise<RunledgerProcess> {
    return this.#start('controller', {
      AUTOMATIONS_FILE: join(this.#folder, 'automations.yaml'),
      ALERTMANAGER_URLS: this.alertmanager.url,
      CHANNEL_ALLOW_PRIVATE: 'true',
      NODE_EXTRA_CA_CERTS: join(this.#folder, 'ca.pem'),
      ...environment,
    });
  }

  async #start(name: Name, settings: Record<string, string>): Promise<RunledgerProcess> {
    const common = {
      REDIS_URL: this.redis.url,
      DATABASE_URL: this.postgres.url(),
      OPS_PORT: String(await freePort()),
      SHUTDOWN_TIMEOUT_MS: '5000',
    };
    const process = new RunledgerProcess(name, { ...common, ...settings });
    this.#processes.push(process);
    await process.ready();
    return process;
  }

  /** Registers an event of a run. As callers do, it repeats what is answered with 503. */
  async report(run: string, event: string): Promise<void> {
    const body = { automation_id: automation, execution_id: run, event, description: 'x' };
    const key = { 'idempotency-key': randomUUID() };
    await until(`201 for ${event} of ${run}`, async () => {
      const answer = await this.#client?.register(body, key);
      if (answer?.status === 503) return false;
      if (answer?.status !== 201) throw new Error(`${event} of ${run}: ${answer?.status} ${answer?.body}`);
      return true;
    });
  }

  query<Row extends object>(sql: string): Promise<Row[]> {
    return query<Row>(this.postgres.url(), sql);
  }

  alerts(): Promise<AlertRow[]> {
    return this.query<AlertRow>('select id, kind, resolved_at from alerts order by opened_at, id');
  }

  /** Of the controllers: the watermark and the last tick, in ms since the Unix epoch. */
  async state(): Promise<{ watermark: number; tickedAt: number; blind: string | null }> {
    const rows = await this.query<{ watermark: Date | null; ticked_at: Date | null; blind_reason: string | null }>(
      'select watermark, ticked_at, blind_reason from controller_state',
    );
    const [row] = rows;
    return {
      watermark: row?.watermark?.getTime() ?? 0,
      tickedAt: row?.ticked_at?.getTime() ?? 0,
      blind: row?.blind_reason ?? null,
    };
  }

  async stop(): Promise<void> {
    this.#client?.close();
    await Promise.all(this.#processes.map(({ child }) => child.kill('SIGKILL')));
    await Promise.all([this.redis.stop(), this.postgres.stop(), this.alertmanager.stop()]);
    await Promise.all([this.receiver[Symbol.asyncDispose](), this.#people[Symbol.asyncDispose]()]);
    await rm(this.#folder, { recursive: true, force: true });
  }
}
