import { isGiven, readConfig } from '../../internal/config/read.ts';
import { component } from '../../internal/kit/lifecycle/group.ts';
import { defineService } from '../../internal/wiring/service.ts';
import { createTokenSource, tokenSettings } from '../../internal/wiring/tokens.ts';
import { consoleSettings, createConsole } from './console.ts';
import {
  closeConsoleDatabase,
  consoleDatabaseSettings,
  consoleDatabaseUrl,
  loginDatabaseUrl,
  openConsoleDatabase,
} from './database.ts';
import { closeOtherConsoleDatabases, consoleDatabasesSettings, openOtherConsoleDatabases } from './databases.ts';

export const consoleService = defineService({
  name: 'console',
  settings: [...consoleSettings, ...consoleDatabaseSettings, ...consoleDatabasesSettings, ...tokenSettings],
  optional: ['CONSOLE_DATABASE_URL', 'DATABASE_URL', 'PUBLIC_URL'],
  drains: true,
  wire: (config, telemetry, environment) => {
    const { logger } = telemetry;
    const [url, loginUrl] = [consoleDatabaseUrl(environment), loginDatabaseUrl(environment)];
    const others = openOtherConsoleDatabases(config, logger);
    const database = { ...openConsoleDatabase(url, config, logger, loginUrl), others };
    const close = async (): Promise<void> => {
      await Promise.all([closeConsoleDatabase(database), closeOtherConsoleDatabases(others)]);
    };
    const isPublic = isGiven('PUBLIC_URL', environment);
    const ingestUrl = isPublic ? readConfig(['PUBLIC_URL'], environment).PUBLIC_URL : undefined;
    const tokens = createTokenSource(config, telemetry);
    const made = createConsole(config, database, tokens, telemetry, { ingestUrl });
    return [component('postgres', { stop: close }), tokens, made.component];
  },
});
