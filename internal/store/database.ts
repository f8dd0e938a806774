import { Kysely, PostgresAdapter, PostgresDialect, type PostgresPool } from 'kysely';
import { Pool, type ClientBase } from 'pg';
import { PreparedStatementPool } from './prepared-statement-pool.ts';
import type { ActsTable } from './tables/acts-table.ts';
import type { AccessLogTable } from './tables/access-log-table.ts';
import type { AlertNoticesTable, AlertsTable } from './tables/alerts-table.ts';
import type { AutomationsTable } from './tables/automations-table.ts';
import type { CapturedJobsTable } from './tables/captured-jobs-table.ts';
import type { ControllerStateTable, RecordGapsTable } from './tables/controller-tables.ts';
import type { MovedOrganizationsTable, OrganizationDatabasesTable } from './tables/databases-tables.ts';
import type { DeadLettersTable } from './tables/dead-letters-table.ts';
import type { DeliveriesTable } from './tables/deliveries-table.ts';
import type { ErasuresTable } from './tables/erasures-table.ts';
import type { ColdArchive, ColdDaysTable } from './tables/cold-days-table.ts';
import type { CompactedExecutionsTable, CompactedKeysTable } from './tables/compacted-executions-table.ts';
import type { EventsTable } from './tables/events-table.ts';
import type { ExecutionsTable } from './tables/executions-table.ts';
import type {
  LogActsTable,
  LogCheckpointsTable,
  LogSegmentsTable,
  LogTailsTable,
  LogTilesTable,
  LogTreesTable,
} from './tables/ledger-tables.ts';
import type { Settings } from './pg-quirks.ts';
import type { RunningExecutionsTable } from './tables/running-executions-table.ts';
import { prepareSession, settings } from './session.ts';
import type { ConsoleKeysTable } from './tables/console-keys-table.ts';
import type { RetentionApprovalsTable } from './tables/retention-approvals-table.ts';
import type { RewrittenEventsTable } from './erase/rewritten-events.ts';
import type { KnownOrganizationsTable, ScheduledRunsTable } from './tables/scheduled-runs-table.ts';
import type { SessionsTable } from './tables/sessions-table.ts';
import type {
  ChannelKeysTable,
  ConsoleAutomationsTable,
  ConsoleChannelsTable,
  TokenKeeperTable,
  TokenRequestsTable,
  TokensTable,
  TokenUsesTable,
} from './tables/owners-tables.ts';
import type { ChannelsTable } from './tables/channels-table.ts';

/** The tables, as queries see them. */
export interface Tables {
  events: EventsTable;
  executions: ExecutionsTable;
  running_executions: RunningExecutionsTable;
  compacted_executions: CompactedExecutionsTable;
  compacted_keys: CompactedKeysTable;
  dead_letters: DeadLettersTable;
  sessions: SessionsTable;
  console_keys: ConsoleKeysTable;
  access_log: AccessLogTable;
  acts: ActsTable;
  automations: AutomationsTable;
  channels: ChannelsTable;
  alerts: AlertsTable;
  alert_notices: AlertNoticesTable;
  deliveries: DeliveriesTable;
  controller_state: ControllerStateTable;
  record_gaps: RecordGapsTable;
  captured_jobs: CapturedJobsTable;
  scheduled_runs: ScheduledRunsTable;
  known_organizations: KnownOrganizationsTable;
  log_acts: LogActsTable;
  log_segments: LogSegmentsTable;
  log_tails: LogTailsTable;
  log_tiles: LogTilesTable;
  log_trees: LogTreesTable;
  log_checkpoints: LogCheckpointsTable;
  erasures: ErasuresTable;
  organization_databases: OrganizationDatabasesTable;
  moved_organizations: MovedOrganizationsTable;
  retention_approvals: RetentionApprovalsTable;
  rewritten_events: RewrittenEventsTable;
  cold_days: ColdDaysTable;
  tokens: TokensTable;
  token_uses: TokenUsesTable;
  token_requests: TokenRequestsTable;
  token_keeper: TokenKeeperTable;
  console_automations: ConsoleAutomationsTable;
  console_channels: ConsoleChannelsTable;
  channel_keys: ChannelKeysTable;
}

/** An open database. `destroy` closes its connections. */
export type Database = Kysely<Tables> & {
  /** Longest duration of one statement, in ms, if it was opened with one; 0 for no limit. */
  readonly statementTimeout?: number;
  /**
   * The same database, but each statement runs in its own transaction that begins with these, in
   * one round trip. Absent for an embedded database.
   */
  readonly inTransactions?: (begin: readonly string[]) => Kysely<Tables>;
  /**
   * The same database, but these statements follow each statement in its transaction, in the same
   * round trip. Absent for an embedded database and in a transaction.
   */
  readonly followedBy?: (after: readonly Settings[]) => Kysely<Tables>;
  /** The archive with the days that this database no longer has. Absent without ARCHIVE_URL. */
  readonly archive?: ColdArchive | undefined;
};

export interface PostgresOptions {
  url: string;
  maxConnections: number;
  /**
   * Longest duration of one statement, in ms; 0 for no limit. Postgres cancels it, or the pool
   * closes its connection.
   */
  statementTimeout: number;
  /**
   * Default: true. False sends statements unprepared, for texts that depend on filters: each would
   * stay prepared in every connection. Behind a pooler no statement is prepared.
   */
  preparesStatements?: boolean;
  /** Shown in `pg_stat_activity`. */
  applicationName: string;
  /** Receives errors of idle connections; the pool replaces such a connection. */
  onIdleError: (error: Error) => void;
  /**
   * Called once if a crash of the server may lose commits, with a sentence for each setting at
   * fault.
   */
  onNotDurable: (missing: string[]) => void;
  /** Receives the live counters of the pool. */
  onOpen?: (pool: PoolCounters) => void;
}

/** Connections of a pool, and queries that wait for one. */
export interface PoolCounters {
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
}

/** Opens a pool, which connects on demand. */
export function openPostgres(options: PostgresOptions): Database {
  let told = false;
  const behindPooler = new WeakSet<ClientBase>();
  // The pool closes a connection that cannot be prepared.
  const onConnect = async (client: ClientBase): Promise<void> => {
    const { missing, pooled } = await prepareSession(client, options.statementTimeout);
    if (pooled) behindPooler.add(client);
    if (missing.length > 0 && !told) options.onNotDurable(missing);
    told = missing.length > 0;
  };
  const pool = new Pool({
    connectionString: options.url,
    max: options.maxConnections,
    application_name: options.applicationName,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    ...(options.statementTimeout > 0 && { query_timeout: options.statementTimeout + 5_000 }),
    // The pool awaits it, although its types do not say so.
    // oxlint-disable-next-line typescript/no-misused-promises
    onConnect,
  });
  pool.on('error', options.onIdleError);
  options.onOpen?.(pool);
  const guarded = new PreparedStatementPool(pool, {
    prepares: options.preparesStatements ?? true,
    isPooled: (client) => behindPooler.has(client),
    settings: { text: settings(options.statementTimeout, 'transaction'), values: [] },
  });
  const db = new Kysely<Tables>({ dialect: new Dialect({ pool: guarded }) });
  const over = (lent: PostgresPool): Kysely<Tables> => new Kysely<Tables>({ dialect: new Dialect({ pool: lent }) });
  return Object.assign(db, {
    statementTimeout: options.statementTimeout,
    inTransactions: (begin: readonly string[]) => over(guarded.inTransactions(begin)),
    followedBy: (after: readonly Settings[]) => over(guarded.followedBy(after)),
    // Kysely's own closes no pool through which only the others have sent statements.
    destroy: () => guarded.end(),
  });
}

/**
 * Without the migrator's session lock, which a pooler would keep: migrate.ts takes its own lock.
 */
class Dialect extends PostgresDialect {
  override createAdapter(): PostgresAdapter {
    return new AdapterWithoutLock();
  }
}

class AdapterWithoutLock extends PostgresAdapter {
  override acquireMigrationLock(): Promise<void> {
    return Promise.resolve();
  }

  override releaseMigrationLock(): Promise<void> {
    return Promise.resolve();
  }
}
