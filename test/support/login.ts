import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '../../internal/kit/telemetry/logger.ts';
import { createRegistry } from '../../internal/kit/telemetry/metrics.ts';
import { tokenMetrics } from '../../internal/cluster/tokens/token-metrics.ts';
import { FileTokenSource } from '../../internal/cluster/tokens/file-token-source.ts';
import { secretManifest, tokenEntry } from '../../internal/cluster/tokens/manifest.ts';
import { Browser } from './browser.ts';
import { query } from './postgres-server.ts';
import { startConsole, readToken, type RunningConsole } from './console.ts';
import { migratedDatabase, type TestDatabase } from './store.ts';

/**
 * Organizations with a token of each scope, such as `write-token-of-acme`, in a file that can
 * change.
 */
export class TokenFile implements AsyncDisposable {
  readonly source: FileTokenSource;
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
    const logger = createLogger('test', 'silent');
    const metrics = tokenMetrics(createRegistry('test'));
    this.source = new FileTokenSource({ path: this.path, logger, metrics, intervalMs: 60_000 });
  }

  static async create(...organizations: string[]): Promise<TokenFile> {
    const file = new TokenFile(await mkdtemp(join(tmpdir(), 'runledger-tokens-')));
    await file.keep(...organizations);
    return file;
  }

  /** Revokes the tokens of all organizations but these. */
  async keep(...organizations: string[]): Promise<void> {
    const documents = organizations.flatMap((organization) =>
      (['read', 'write', 'manage'] as const).map((scope) => {
        const token = scope === 'read' ? readToken(organization) : `${scope}-token-of-${organization}`;
        return secretManifest({ organization, scope, entries: tokenEntry(token, scope) });
      }),
    );
    await writeFile(this.path, documents.join('---\n'));
    await this.source.refresh();
  }

  get path(): string {
    return join(this.#folder, 'tokens.yaml');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#folder, { recursive: true });
  }
}

export interface SuiteLogin {
  readonly console: RunningConsole;
  readonly database: TestDatabase;
  readonly tokens: TokenFile;
  /** A browser that has never been here. */
  browser(): Browser;
  /** A browser that has logged in with the read token of an organization. */
  reader(organization?: string): Promise<Browser>;
}

const organizations = ['acme', 'globex', 'initech'];

/**
 * A console with the organizations acme, globex and initech for each test of the suite it is called
 * in, on one database of the suite, without sessions.
 */
export function suiteLogin(settings: () => Record<string, string> = () => ({})): SuiteLogin {
  let database: TestDatabase;
  let tokens: TokenFile;
  let console: RunningConsole;
  before(async () => {
    database = await migratedDatabase();
  });
  beforeEach(async () => {
    await database.db.deleteFrom('sessions').execute();
    // Its trigger refuses that.
    await query(
      database.url,
      'alter table access_log disable trigger user; delete from access_log; alter table access_log enable trigger user',
    );
    tokens = await TokenFile.create(...organizations);
    console = await startConsole(database.url, settings(), tokens.source);
  });
  afterEach(async () => {
    await console.stop();
    await tokens[Symbol.asyncDispose]();
  });
  after(() => database[Symbol.asyncDispose]());
  const browser = (): Browser => new Browser(console.client);
  return {
    get console() {
      return console;
    },
    get database() {
      return database;
    },
    get tokens() {
      return tokens;
    },
    browser,
    reader: async (organization = 'acme') => {
      const reader = browser();
      const answer = await reader.post('/login', { token: readToken(organization) });
      if (answer.status !== 303) throw new Error(`${answer.status}: ${answer.body}`);
      return reader;
    },
  };
}

/** True if the browser is logged in, and may see an organization. */
export async function isLoggedIn(browser: Browser): Promise<boolean> {
  return (await browser.get('/login')).status === 303;
}

/** The name of the cookie with the id of a session. */
export const sessionCookie = '__Host-runledger-session';
