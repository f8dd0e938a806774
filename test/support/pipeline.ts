import { createIngest, ingestSettings } from '../../cmd/ingest/ingest.ts';
import { createWorker, workerSettings } from '../../cmd/worker/worker.ts';
import { workerDatabase } from '../../cmd/worker/service.ts';
import { databaseSettings, openDatabase, openOtherDatabases } from '../../internal/wiring/databases.ts';
import { readConfig } from '../../internal/config/read.ts';
import type { Component } from '../../internal/kit/lifecycle/component.ts';
import { migrateToLatest } from '../../internal/store/migrate.ts';
import { failing } from '../../internal/kit/ops/probes.ts';
import { createTelemetry, type Telemetry } from '../../internal/kit/telemetry/telemetry.ts';
import { parseSecrets } from '../../internal/cluster/tokens/manifest-file.ts';
import { tokenSetOf } from '../../internal/cluster/tokens/token-set.ts';
import { authenticateIn, type Authentication } from '../../internal/cluster/tokens/token-source.ts';
import { ApiClient } from './api-client.ts';
import { tuned } from './tuned.ts';

/** The token that test ingests take, for the organization `acme`. */
export const token = 'test-token-of-acme-0123456789';

/** A read token of the same organization. */
export const readToken = 'test-read-token-of-acme-0123456789';

/** A ping key of the same organization. */
export const pingKey = 'test-ping-key-of-acme-0123456789';

const testTokens = tokenSetOf(
  parseSecrets(
    `{ kind: Secret, metadata: { name: acme, labels: { organization: acme } }, stringData: { token-1: ${token}, read-1: ${readToken}, ping-1: ${pingKey} } }`,
    'test tokens',
  ),
  'organization',
);

export interface RunningIngest extends AsyncDisposable {
  /** Behind a proxy that ends TLS, as it were: `X-Forwarded-Proto: https` is sent along. */
  client: ApiClient;
  port: number;
  /** Of the server that speaks TLS; 0 without one. */
  httpsPort: number;
  telemetry: Telemetry;
  /** What readiness says is wrong; empty when ready. */
  unready(): Record<string, string>;
  /** Why events are rejected now; empty while they are taken. */
  degraded(): Record<string, string>;
  stop(): Promise<void>;
}

/** Ingest in this process, on a free port, with the settings given over those of tests. */
export async function startIngest(
  settings: Record<string, string>,
  authenticate: (given: string) => Authentication = (given) => authenticateIn(testTokens, given),
): Promise<RunningIngest> {
  const telemetry = createTelemetry('ingest', 'silent');
  const base = { PORT: '0', PUBLIC_URL: 'https://runledger.example', TRUST_PROXY: 'true' };
  const unused = { authenticateDigest: authenticate, organizations: () => [], tokensOf: () => new Map() };
  const tokens = { ...stub('tokens'), ...unused, authenticate, unready: () => undefined };
  const { component, servers } = createIngest(
    readConfig(ingestSettings, tuned({ ...base, ...settings })),
    tokens,
    telemetry,
  );
  await component.start();
  const [port = 0, httpsPort = 0] = servers.map((server) => server.port);
  const client = new ApiClient(`http://127.0.0.1:${port}`, { token, 'x-forwarded-proto': 'https' });
  const stop = async (): Promise<void> => {
    client.close();
    await component.stop();
  };
  return {
    client,
    port,
    httpsPort,
    telemetry,
    unready: () => failing(telemetry.probes.ready),
    degraded: () => failing(telemetry.probes.degraded),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/**
 * A worker in this process, on a database whose schema it brings up to date first, unless that is
 * away.
 */
export async function startWorker(
  settings: Record<string, string>,
  { migrate } = { migrate: true },
): Promise<AsyncDisposable & { telemetry: Telemetry }> {
  const telemetry = createTelemetry('worker', 'silent');
  const config = readConfig([...workerSettings, ...databaseSettings], tuned(settings));
  const db = openDatabase(config.DATABASE_URL, workerDatabase, telemetry.logger);
  const others = openOtherDatabases(config.DATABASE_URLS, workerDatabase, telemetry.logger);
  if (migrate) for (const one of [db, ...others.values()]) await migrateToLatest(one);
  const worker = createWorker(config, db, telemetry, others);
  await worker.start();
  return { telemetry, [Symbol.asyncDispose]: () => worker.stop() };
}

function stub(name: string): Component {
  return { name, start: () => Promise.resolve(), stop: () => Promise.resolve() };
}
