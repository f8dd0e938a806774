import { isGiven, readConfig, type Config } from '../../internal/config/read.ts';
import type { Database, PoolCounters } from '../../internal/store/database.ts';
import { openDatabase } from '../../internal/wiring/databases.ts';
import type { Logger } from '../../internal/kit/telemetry/logger.ts';

export const consoleDatabaseSettings = ['CONSOLE_DATABASE_CONNECTIONS', 'READ_STATEMENT_TIMEOUT_MS'] as const;

type DatabaseConfig = Config<(typeof consoleDatabaseSettings)[number]>;

/** The database of a console. */
export interface ConsoleDatabase {
  db: Database;
  /** Absent for an embedded database, which has one connection. */
  pool?: PoolCounters | undefined;
  login: LoginDatabase;
  /** The databases besides this one, by name. */
  others?: ReadonlyMap<string, OtherDatabase> | undefined;
}

/** A database of some organizations. */
export interface OtherDatabase extends Pick<ConsoleDatabase, 'db' | 'pool'> {
  /** The same database where it is writable, for tests of channels. */
  written: Database;
}

/** The database of sessions and the access log, to which the console writes. */
export interface LoginDatabase {
  db: Database;
  /** The setting with its address. */
  setting: string;
}

/** Connections for sessions and the access log, if they have their own database. */
const loginConnections = 4;

/** The address in `CONSOLE_DATABASE_URL`, or else in `DATABASE_URL`. @throws {ConfigError} */
export function consoleDatabaseUrl(environment?: NodeJS.ProcessEnv): string {
  const name = isGiven('CONSOLE_DATABASE_URL', environment) ? 'CONSOLE_DATABASE_URL' : 'DATABASE_URL';
  return String(readConfig([name], environment)[name]);
}

/**
 * The address in `DATABASE_URL`, if `CONSOLE_DATABASE_URL` is set too: that may be a replica, which
 * cannot hold sessions. @throws {ConfigError}
 */
export function loginDatabaseUrl(environment?: NodeJS.ProcessEnv): string | undefined {
  const both = isGiven('CONSOLE_DATABASE_URL', environment) && isGiven('DATABASE_URL', environment);
  return both ? readConfig(['DATABASE_URL'], environment).DATABASE_URL : undefined;
}

/**
 * The console's Postgres, which connects on demand, so that a console starts without it. Without a
 * `loginUrl` the same database holds the sessions.
 */
export function openConsoleDatabase(
  url: string,
  config: DatabaseConfig,
  logger: Logger,
  loginUrl?: string,
): ConsoleDatabase {
  let pool: PoolCounters | undefined;
  const onOpen = (counters: PoolCounters): void => void (pool = counters);
  const use = { ...useOf(config), process: 'console', connections: config.CONSOLE_DATABASE_CONNECTIONS, onOpen };
  const db = openDatabase(url, use, logger);
  if (loginUrl === undefined) return { db, pool, login: { db, setting: 'CONSOLE_DATABASE_URL or DATABASE_URL' } };
  return { db, pool, login: { db: openWrittenDatabase(loginUrl, config, logger), setting: 'DATABASE_URL' } };
}

/** Connections for the little that a console writes when it reads from a replica. */
export function openWrittenDatabase(url: string, config: DatabaseConfig, logger: Logger): Database {
  return openDatabase(url, { ...useOf(config), process: 'login', connections: loginConnections }, logger);
}

function useOf({ READ_STATEMENT_TIMEOUT_MS: statementTimeout }: DatabaseConfig) {
  return { statementTimeout, preparesStatements: false, onlyReads: true } as const;
}

/** Closes the connections of a console. */
export async function closeConsoleDatabase({ db, login }: ConsoleDatabase): Promise<void> {
  await Promise.all([db.destroy(), ...(login.db === db ? [] : [login.db.destroy()])]);
}
