import { sql } from 'kysely';
import { recordEvents } from '../../internal/store/record-events.ts';
import type { Answer, ApiClient } from './api-client.ts';
import { startConsole, type RunningConsole } from './console.ts';
import { anEvent } from './events.ts';
import { migratedDatabase, type TestDatabase } from './store.ts';
import { until } from './until.ts';

/** Noon of a fixed day, when the first event of tests is. */
export const noon = Date.parse('2026-11-20T12:00:00Z');

export type SomeEvent = NonNullable<Parameters<typeof anEvent>[0]>;

export interface SuiteConsole {
  readonly console: RunningConsole;
  readonly database: TestDatabase;
  readonly client: ApiClient;
  /** Stores events, a millisecond apart from noon on unless they say when. */
  store(...events: SomeEvent[]): Promise<unknown>;
}

/** A console for all tests of the suite it is called in. No request may reach its database. */
export function consoleWithoutDatabase(): Pick<SuiteConsole, 'client'> {
  let console: RunningConsole;
  before(async () => {
    console = await startConsole('postgres://127.0.0.1:1/none');
  });
  afterEach(() => console.client.close());
  after(() => console.stop());
  return {
    get client() {
      return console.client;
    },
  };
}

/**
 * A console on a fresh database for each test of the suite it is called in. `addressFor` gives the
 * address of that database with another user.
 */
export function suiteConsole(
  settings: Record<string, string> = {},
  addressFor: (database: TestDatabase) => Promise<string> = ({ url }) => Promise.resolve(url),
): SuiteConsole {
  let database: TestDatabase;
  let console: RunningConsole;
  beforeEach(async () => {
    database = await migratedDatabase();
    console = await startConsole(await addressFor(database), settings);
  });
  afterEach(async () => {
    await console.stop();
    await database[Symbol.asyncDispose]();
  });
  return {
    get console() {
      return console;
    },
    get database() {
      return database;
    },
    get client() {
      return console.client;
    },
    store: (...events) => storeEvents(database.db, ...events),
  };
}

/** Stores events, a millisecond apart from noon on unless they say when. */
export function storeEvents(db: TestDatabase['db'], ...events: SomeEvent[]): Promise<unknown> {
  return recordEvents(
    db,
    events.map((given, index) => anEvent({ createdAt: noon + index, ...given })),
  );
}

/** An answer with a page of a list. */
export interface ListAnswer {
  items: Record<string, unknown>[];
  next_cursor: string | null;
}

/** Reads a list to its end by `next_cursor`, and calls `between` before each further page. */
export async function readAll(
  client: ApiClient,
  path: string,
  between: () => Promise<unknown> = () => Promise.resolve(),
): Promise<Record<string, unknown>[]> {
  const items: Record<string, unknown>[] = [];
  let cursor: string | null = null;
  do {
    if (cursor !== null) await between();
    const next: Answer = await client.send({
      path: cursor === null ? path : withParameter(path, 'cursor', cursor),
    });
    if (next.status !== 200) throw new Error(`${next.status}: ${next.body}`);
    const page = next.json<ListAnswer>();
    items.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return items;
}

/** A path with a parameter more. */
export function withParameter(path: string, name: string, value: string): string {
  return `${path}${path.includes('?') ? '&' : '?'}${name}=${encodeURIComponent(value)}`;
}

/** Locks the tables of the record, so that queries wait. Call the result to unlock them. */
export async function lockRecord({ db }: TestDatabase): Promise<() => Promise<void>> {
  const trx = await db.startTransaction().execute();
  await sql`lock table events, executions in access exclusive mode`.execute(trx);
  return async () => {
    await trx.commit().execute();
  };
}

/** Resolves when so many queries of the console wait for a lock. */
export async function queriesWaiting({ db }: TestDatabase, count: number): Promise<void> {
  await until(`${count} queries that wait`, async () => {
    const { rows } = await sql<{ waiting: string }>`
      select count(*) as waiting from pg_stat_activity
      where application_name = 'runledger-console' and wait_event_type = 'Lock' and datname = current_database()
    `.execute(db);
    return Number(rows[0]?.waiting) >= count ? true : undefined;
  });
}
