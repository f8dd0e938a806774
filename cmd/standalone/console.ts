import { isGiven, readConfig } from '../../internal/config/read.ts';
import type { SettingName } from '../../internal/config/settings.ts';
import type { OneTimeLink } from '../../internal/login/one-time-link.ts';
import type { Component } from '../../internal/kit/lifecycle/component.ts';
import type { Database } from '../../internal/store/database.ts';
import type { ApiMetrics } from '../../internal/intake/http/api-metrics.ts';
import type { Logger } from '../../internal/kit/telemetry/logger.ts';
import type { Telemetry } from '../../internal/kit/telemetry/telemetry.ts';
import type { TokenSource } from '../../internal/cluster/tokens/token-source.ts';
import { consoleSettings, createConsole } from '../console/console.ts';
import {
  consoleDatabaseSettings,
  consoleDatabaseUrl,
  openConsoleDatabase,
  type ConsoleDatabase,
} from '../console/database.ts';

/** What the console of standalone shares with ingest and worker. */
export interface SharedParts {
  /** The worker's database, which holds the sessions. */
  db: Database;
  /** The console's own database, if it has one. */
  own: ConsoleDatabase | undefined;
  /** Started and stopped by ingest. */
  tokens: TokenSource;
  /** Logs in to the organization `demo`, as its owner. */
  oneTimeLink: OneTimeLink;
  requests: ApiMetrics;
  telemetry: Telemetry;
  /** The https address of ingest, for the examples on pages. */
  ingestUrl: URL;
  /** Paths of the certificate and of `demo`'s write token, for the examples on pages. */
  files: { certificate: string; token: string };
}

/**
 * The console's own connections, if `CONSOLE_DATABASE_URL` or `DATABASE_URL` names a real Postgres.
 * The caller closes them.
 */
export function openOwnDatabase(logger: Logger): ConsoleDatabase | undefined {
  if (!isGiven('CONSOLE_DATABASE_URL') && !isGiven('DATABASE_URL')) return undefined;
  return openConsoleDatabase(consoleDatabaseUrl(), readConfig(consoleDatabaseSettings), logger);
}

export interface StandaloneConsole {
  component: Component;
  /** The port; known once the console has started. */
  port: () => number | undefined;
}

/** Creates the console, which serves only HTTPS, on `CONSOLE_PORT`. */
export function createStandaloneConsole(
  { db, own, tokens, oneTimeLink, requests, telemetry, ingestUrl, files }: SharedParts,
  serverDefaults: Partial<Record<SettingName, string>>,
): StandaloneConsole {
  const { CONSOLE_PORT: port } = readConfig(['CONSOLE_PORT']);
  const defaults = { ...serverDefaults, CONSOLE_PUBLIC_URL: `https://localhost:${port}` };
  const config = {
    ...readConfig([...consoleSettings, 'LEDGER_KEY'], undefined, defaults),
    PORT: undefined,
    HTTPS_PORT: port,
  };
  // Readiness concerns automations' requests, which are accepted without Postgres.
  const probes = { ...telemetry.probes, ready: new Map() };
  const database = { db, ...own, login: { db, setting: 'DATABASE_URL' } };
  const localFiles = { organization: oneTimeLink.organization, ...files };
  const extras = { requests, oneTimeLink, ingestUrl, localFiles, portSetting: 'CONSOLE_PORT' };
  const { component, servers } = createConsole(config, database, tokens, { ...telemetry, probes }, extras);
  return { component, port: () => servers[0]?.port };
}
