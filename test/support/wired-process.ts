import { mkdirSync, mkdtempDisposableSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createConsole, consoleSettings } from '../../cmd/console/console.ts';
import {
  consoleDatabaseSettings,
  consoleDatabaseUrl,
  loginDatabaseUrl,
  openConsoleDatabase,
} from '../../cmd/console/database.ts';
import { consoleDatabasesSettings, openOtherConsoleDatabases } from '../../cmd/console/databases.ts';
import { controllerSettings } from '../../cmd/controller/controller.ts';
import { createIngest, ingestSettings } from '../../cmd/ingest/ingest.ts';
import { drainedShards, takingShards } from '../../internal/wiring/redis.ts';
import { createTokenSource, tokenSettings } from '../../internal/wiring/tokens.ts';
import { databaseSettings, openDatabase } from '../../cmd/worker/database.ts';
import { databasesSettings, openOtherDatabases } from '../../cmd/worker/databases.ts';
import { createWorker, workerSettings } from '../../cmd/worker/worker.ts';
import { processSettings, requireTimeToStop } from '../../internal/config/process-settings.ts';
import { readConfig } from '../../internal/config/read.ts';
import { createTelemetry } from '../../internal/kit/telemetry/telemetry.ts';
import { secretFilesOf, secretsFolder, type Container } from './helm-manifests.ts';
import { processes } from './settings-table.ts';

/** Wire a process as its `main.ts` does, and start nothing. They throw what would end it. */
const wire: Record<string, (environment: NodeJS.ProcessEnv) => void> = {
  ingest: (environment) => {
    const telemetry = createTelemetry('ingest', 'silent');
    const config = readConfig([...processSettings, ...ingestSettings, ...tokenSettings], environment);
    requireTimeToStop(config);
    createIngest(config, createTokenSource(config, telemetry), telemetry);
  },
  worker: (environment) => {
    const telemetry = createTelemetry('worker', 'silent');
    const config = readConfig([...workerSettings, ...databaseSettings, ...databasesSettings], environment);
    const others = openOtherDatabases(config, telemetry.logger);
    createWorker(config, openDatabase(config, telemetry.logger), telemetry, others);
  },
  console: (environment) => {
    const telemetry = createTelemetry('console', 'silent');
    const names = [
      ...consoleSettings,
      ...consoleDatabaseSettings,
      ...consoleDatabasesSettings,
      ...tokenSettings,
    ] as const;
    const config = readConfig(names, environment);
    const [url, loginUrl] = [consoleDatabaseUrl(environment), loginDatabaseUrl(environment)];
    const others = openOtherConsoleDatabases(config, telemetry.logger);
    const database = { ...openConsoleDatabase(url, config, telemetry.logger, loginUrl), others };
    createConsole(config, database, createTokenSource(config, telemetry), telemetry);
  },
  controller: (environment) => {
    const config = readConfig(controllerSettings, environment);
    takingShards(config);
    drainedShards(config);
  },
};

/** Variables that libraries read. */
const ofLibraries = /^(PG(USER|PASSWORD)(_FILE)?|PGSSLMODE|NODE_EXTRA_CA_CERTS|AWS_\w+)$/;

/** What a Secret may hold for a variable. */
function secretOf(name: string): string {
  if (name.startsWith('REDIS_URL')) return 'rediss://:p%40ss@redis.example.com:6379';
  return name.includes('DATABASE_URL') ? 'postgres://user:p%40ss@postgres.example.com/runledger' : 'p@ss/w#rd %41';
}

/** The process or the command that a container runs; undefined for that of another image. */
export function processOf({ args = [] }: Container): string | undefined {
  const [, name, command] = /(?:^| )cmd\/(\w+)\/main\.ts(?: (\S+))?/.exec(args.join(' ')) ?? [];
  return name === 'admin' ? command : name;
}

/**
 * Wires a process with the environment of its container, as the kubelet makes it. Throws what would
 * end the process.
 * @returns the variables that the process does not read.
 */
export function wireProcess(name: string, container: Container): string[] {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'runledger-secrets-'));
  const environment: Record<string, string> = { KUBERNETES_SERVICE_HOST: '10.0.0.1' };
  for (const { name: variable, value = '' } of container.env ?? []) {
    environment[variable] = value.replaceAll(secretsFolder, `${folder.path}/`);
    for (const file of secretFilesOf(value)) {
      mkdirSync(dirname(join(folder.path, file)), { recursive: true });
      writeFileSync(join(folder.path, file), secretOf(variable));
    }
  }
  const names = processes[name] ?? [];
  readConfig(names, environment);
  wire[name]?.(environment);
  const known = new Set<string>([
    ...names,
    ...names.map((setting) => `${setting}_FILE`),
    'PUBLIC_URL',
    'KUBERNETES_SERVICE_HOST',
  ]);
  return Object.keys(environment).filter((variable) => !known.has(variable) && !ofLibraries.test(variable));
}
