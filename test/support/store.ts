import { sql, type Selectable } from 'kysely';
import { Client } from 'pg';
import type { AcceptedEvent } from '../../internal/event/event.ts';
import type { Execution } from './outcome-oracle.ts';
import { openPostgres, type Database } from '../../internal/store/database.ts';
import type { EventsTable } from '../../internal/store/tables/events-table.ts';
import type { ExecutionsTable } from '../../internal/store/tables/executions-table.ts';
import { optionalTexts } from '../../internal/event/fields.ts';
import { migrateToLatest } from '../../internal/store/migrate.ts';
import { citusUrl, distribute } from './citus.ts';
import { emptyDatabase } from './servers.ts';

export interface TestDatabase extends AsyncDisposable {
  db: Database;
  url: string;
}

let template: Promise<string> | undefined;

/**
 * The address of a fresh database with the schema: a copy of the first, faster than migrations. A
 * distributed database cannot be copied.
 */
export async function migratedUrl(): Promise<string> {
  if (citusUrl !== undefined) {
    const url = await emptyDatabase();
    await migrate(url);
    await distribute(url);
    return url;
  }
  template ??= migratedTemplate();
  return emptyDatabase(await template);
}

async function migratedTemplate(): Promise<string> {
  const url = await emptyDatabase();
  await migrate(url);
  return new URL(url).pathname.slice(1);
}

/** A connection pool on a fresh database with the schema. Its first connection is open. */
export async function migratedDatabase(options: { statementTimeout?: number } = {}): Promise<TestDatabase> {
  const url = await migratedUrl();
  const db = openDatabase(url, options.statementTimeout);
  await sql`select 1`.execute(db);
  return { db, url, [Symbol.asyncDispose]: () => db.destroy() };
}

/** Brings the schema of a database up to date. */
export async function migrate(url: string): Promise<void> {
  await using db = openDatabase(url);
  await migrateToLatest(db);
}

/** A migrated database of its own for each test of the suite it is called in. */
export function eachDatabase(): Pick<TestDatabase, 'db' | 'url'> {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await migratedDatabase();
  });
  afterEach(() => database[Symbol.asyncDispose]());
  return {
    get db() {
      return database.db;
    },
    get url() {
      return database.url;
    },
  };
}

/** A session of its own, which ends with its block. */
export async function openSession(url: string): Promise<AsyncDisposable & Pick<Client, 'query'>> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

export function openDatabase(
  url: string,
  statementTimeout = 10_000,
  onNotDurable: (missing: string[]) => void = () => undefined,
): Database {
  return openPostgres({
    url,
    maxConnections: 6,
    statementTimeout,
    applicationName: 'test',
    onIdleError: () => undefined,
    onNotDurable,
  });
}

/** The table `executions` in the form of the pure function, in no order. */
export async function storedExecutions(db: Database): Promise<Execution[]> {
  return (await db.selectFrom('executions').selectAll().execute()).map(executionOf);
}

/** Copies the running ones of executions that a test inserted itself. */
export const listRunning = `insert into running_executions (organization, automation_id, execution_id, first_event_at)
  select organization, automation_id, execution_id, first_event_at from executions where state = 'running'`;

/** Deletes all executions. */
export async function deleteExecutions(db: Database): Promise<void> {
  await db.deleteFrom('running_executions').execute();
  await db.deleteFrom('executions').execute();
}

/** The rows in which `running_executions` differs from the running ones of `executions`. */
export async function wrongRunning(db: Database): Promise<unknown[]> {
  const { rows } = await sql`
    select * from running_executions full join (
      select organization, automation_id, execution_id, first_event_at, state from executions where state = 'running'
    ) as executions using (organization, automation_id, execution_id, first_event_at)
    where state is null or running_executions is null
  `.execute(db);
  return rows;
}

/** A row of `executions` in the form of the pure function. */
export function executionOf(row: Selectable<ExecutionsTable>): Execution {
  return {
    organization: row.organization,
    automationId: row.automation_id,
    executionId: row.execution_id,
    state: row.state,
    firstEventAt: row.first_event_at.getTime(),
    lastEventAt: row.last_event_at.getTime(),
    startedAt: row.started_at?.getTime() ?? null,
    failedAt: row.failed_at?.getTime() ?? null,
    endedAt: row.ended_at?.getTime() ?? null,
    counts: {
      START: row.start_count,
      EVENT: row.event_count,
      WARNING: row.warning_count,
      ERROR: row.error_count,
      END: row.end_count,
    },
    startMissing: row.start_missing,
    startRepeated: row.start_repeated,
    startLate: row.start_late,
    eventAfterEnd: row.event_after_end,
  };
}

/** The table `events` as the events that were accepted, in the order of acceptance. */
export async function storedEvents(db: Database): Promise<AcceptedEvent[]> {
  const rows = await db.selectFrom('events').selectAll().orderBy('created_at').orderBy('id').execute();
  return rows.map(eventOf);
}

/** A row of `events` as the event that was accepted. */
export function eventOf(row: Selectable<EventsTable>): AcceptedEvent {
  return {
    id: row.id,
    organization: row.organization,
    automationId: row.automation_as_sent ?? row.automation_id,
    executionId: row.execution_id,
    kind: row.kind,
    ...optionalTexts(({ column }) => row[column]),
    createdAt: row.created_at.getTime(),
    ...(row.occurred_at !== null && { occurredAt: row.occurred_at.getTime() }),
  };
}
