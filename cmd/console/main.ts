import { processSettings, requireTimeToStop } from '../../internal/config/process-settings.ts';
import { isGiven, readConfig } from '../../internal/config/read.ts';
import { component, ComponentGroup } from '../../internal/kit/lifecycle/group.ts';
import { runMain } from '../../internal/kit/lifecycle/main.ts';
import { runProcess } from '../../internal/kit/lifecycle/run-process.ts';
import { OpsServer } from '../../internal/kit/ops/ops-server.ts';
import { createTelemetry } from '../../internal/kit/telemetry/telemetry.ts';
import { createTracing } from '../../internal/kit/telemetry/create-tracing.ts';
import { createTokenSource, tokenSettings } from '../../internal/wiring/tokens.ts';
import { consoleSettings, createConsole } from './console.ts';
import { closeOtherConsoleDatabases, consoleDatabasesSettings, openOtherConsoleDatabases } from './databases.ts';
import {
  closeConsoleDatabase,
  consoleDatabaseSettings,
  consoleDatabaseUrl,
  loginDatabaseUrl,
  openConsoleDatabase,
} from './database.ts';

runMain(async () => {
  const config = readConfig([
    ...processSettings,
    ...consoleSettings,
    ...consoleDatabaseSettings,
    ...consoleDatabasesSettings,
    ...tokenSettings,
  ]);
  requireTimeToStop(config);
  const [url, loginUrl] = [consoleDatabaseUrl(), loginDatabaseUrl()];
  const tracing = await createTracing('console', config);
  const telemetry = { ...createTelemetry('console', config.LOG_LEVEL, config.METRICS_ORGANIZATIONS), tracing };
  const { logger, probes, registry } = telemetry;
  const ops = new OpsServer(config, probes, registry);
  const tokens = createTokenSource(config, telemetry);
  const others = openOtherConsoleDatabases(config, logger);
  const database = { ...openConsoleDatabase(url, config, logger, loginUrl), others };
  const close = async (): Promise<void> => {
    await Promise.all([closeConsoleDatabase(database), closeOtherConsoleDatabases(others)]);
  };
  const postgres = component('postgres', { stop: close });
  const ingestUrl = isGiven('PUBLIC_URL') ? readConfig(['PUBLIC_URL']).PUBLIC_URL : undefined;
  const console = createConsole(config, database, tokens, telemetry, { ingestUrl });
  await runProcess({
    main: new ComponentGroup('process', [ops, ...(tracing ? [tracing] : []), postgres, console.component], logger),
    probes,
    logger,
    drainDelayMs: config.DRAIN_DELAY_MS,
    shutdownTimeoutMs: config.SHUTDOWN_TIMEOUT_MS,
  });
});
