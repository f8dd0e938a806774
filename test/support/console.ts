import { consoleSettings, createConsole, type ConsoleExtras, type Visitors } from '../../cmd/console/console.ts';
import { closeConsoleDatabase, consoleDatabaseSettings, openConsoleDatabase } from '../../cmd/console/database.ts';
import {
  closeOtherConsoleDatabases,
  consoleDatabasesSettings,
  openOtherConsoleDatabases,
} from '../../cmd/console/databases.ts';
import { readConfig } from '../../internal/config/read.ts';
import { failing } from '../../internal/kit/ops/probes.ts';
import { createTelemetry, type Telemetry } from '../../internal/kit/telemetry/telemetry.ts';
import { digestOf } from '../../internal/cluster/tokens/token-entry.ts';
import type { Authentication, TokenSource } from '../../internal/cluster/tokens/token-source.ts';
import { ApiClient } from './api-client.ts';
import { tuned } from './tuned.ts';

export interface RunningConsole extends AsyncDisposable {
  /** A reader of the organization `acme`, behind a proxy that ends TLS. */
  client: ApiClient;
  port: number;
  telemetry: Telemetry;
  /** What readiness says is wrong; empty when ready. */
  unready(): Record<string, string>;
  degraded(): Record<string, string>;
  stop(): Promise<void>;
}

/** The read token that test consoles take for an organization. */
export function readToken(organization = 'acme'): string {
  return `read-token-of-${organization}`;
}

/** A console in this process, on a free port, with the settings given over those of tests. */
export async function startConsole(
  url: string,
  settings: Record<string, string> = {},
  authenticate: ((given: string) => Authentication) | TokenSource = authenticateReader,
  visitors?: Visitors,
  loginUrl?: string,
  extras: ConsoleExtras = {},
): Promise<RunningConsole> {
  const telemetry = createTelemetry('console', 'silent');
  const base = {
    PORT: '0',
    CONSOLE_PUBLIC_URL: 'https://console.example',
    TRUST_PROXY: 'true',
    READ_RATE: '1000',
    READ_CONCURRENCY: '100',
  };
  const config = readConfig(
    [...consoleSettings, ...consoleDatabaseSettings, ...consoleDatabasesSettings],
    tuned({
      ...base,
      ...settings,
    }),
  );
  const tokens = typeof authenticate === 'function' ? sourceOf(authenticate) : authenticate;
  const others = openOtherConsoleDatabases(config, telemetry.logger);
  const database = { ...openConsoleDatabase(url, config, telemetry.logger, loginUrl), others };
  const { component, servers } = createConsole(config, database, tokens, telemetry, { ...extras, visitors });
  await component.start();
  const port = servers[0]?.port ?? 0;
  const client = new ApiClient(`http://127.0.0.1:${port}`, { token: readToken(), 'x-forwarded-proto': 'https' });
  const stop = async (): Promise<void> => {
    client.close();
    await component.stop();
    await closeConsoleDatabase(database);
    await closeOtherConsoleDatabases(others);
  };
  return {
    client,
    port,
    telemetry,
    unready: () => failing(telemetry.probes.ready),
    degraded: () => failing(telemetry.probes.degraded),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

function sourceOf(authenticate: (given: string) => Authentication): TokenSource {
  const none = (): Promise<void> => Promise.resolve();
  const known = {
    organizations: () => [],
    tokensOf: () => new Map(),
    authenticateDigest: () => ({ status: 'unknown' }) as const,
  };
  return { name: 'tokens', start: none, stop: none, authenticate, ...known, unready: () => undefined };
}

/** Takes the token of every organization, and a write token of each. */
function authenticateReader(given: string): Authentication {
  const [, scope, organization] = /^(read|write)-token-of-(.+)$/.exec(given) ?? [];
  if (organization === undefined) return { status: 'unknown' };
  const tokenId = digestOf(given).slice(0, 12);
  return { status: 'known', organization, scope: scope === 'read' ? 'read' : 'write', tokenId };
}
