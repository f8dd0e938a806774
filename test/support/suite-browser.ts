import type { Browser, BrowserContextOptions } from 'playwright-core';
import type { Viewer } from '../../internal/console/viewer.ts';
import { openPage, startBrowser, type WatchedPage } from './chromium.ts';
import { startConsole, type RunningConsole } from './console.ts';
import { fleetDatabase } from './fleet/store-fleet.ts';
import { migratedDatabase, type TestDatabase } from './store.ts';

export interface SuiteBrowser {
  readonly console: RunningConsole;
  readonly database: TestDatabase;
  /** Who is logged in; undefined ends the session. */
  viewer: Viewer | undefined;
  open(options?: BrowserContextOptions): Promise<WatchedPage>;
  /** The address of another console on the same database. It ends with the test. */
  withConsole(settings: Record<string, string>): Promise<string>;
}

interface SuiteOptions {
  isEmpty?: boolean;
  settings?: Record<string, string>;
}

/** Connections that the suite opens at once, and keeps. */
const few = { CONSOLE_DATABASE_CONNECTIONS: '2' };

export const ada: Viewer = { subject: 'ada', name: 'ada@example.com', organizations: ['acme'] };

/**
 * A browser and a console for all tests of the suite it is called in, and the record of the fleet
 * of the organizations `acme` and `globex`, unless `isEmpty`.
 */
export function suiteBrowser({ isEmpty = false, settings = {} }: SuiteOptions = {}): SuiteBrowser {
  let browser: Browser;
  let database: TestDatabase;
  let console: RunningConsole;
  const others: RunningConsole[] = [];
  const suite = {
    viewer: ada as Viewer | undefined,
    get console() {
      return console;
    },
    get database() {
      return database;
    },
    open: (options?: BrowserContextOptions) => openPage(browser, console.port, options),
    withConsole: async (settings: Record<string, string>) => {
      const other = await startConsole(database.url, { ...few, ...settings }, undefined, visitors);
      others.push(other);
      return `http://127.0.0.1:${other.port}`;
    },
  };
  const visitors = {
    findViewer: () => Promise.resolve(suite.viewer),
    proofOf: () => Promise.resolve('an id token'),
    ingestUrl: new URL('https://ingest.example'),
  };
  before(async function store() {
    // The record of the fleet takes a few seconds, on a busy machine many.
    this.timeout(180_000);
    database = await (isEmpty ? migratedDatabase() : fleetDatabase());
    const until = new Date(Date.now() + 3_600_000);
    await database.db.updateTable('token_keeper').set({ until }).execute();
    console = await startConsole(database.url, { ...few, ...settings }, undefined, visitors);
    browser = await startBrowser();
    // Opens the connections that the suite keeps.
    await using first = await suite.open();
    await first.page.goto('/o/acme/');
  });
  beforeEach(() => {
    suite.viewer = ada;
  });
  afterEach(async () => {
    for (const other of others.splice(0)) await other.stop();
  });
  after(async () => {
    await browser.close();
    await console.stop();
    await database[Symbol.asyncDispose]();
  });
  return suite;
}
