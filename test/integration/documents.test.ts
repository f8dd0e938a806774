import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { sql } from 'kysely';
import { FileTokenSource } from '../../internal/cluster/tokens/file-token-source.ts';
import { tokenMetrics } from '../../internal/cluster/tokens/token-metrics.ts';
import { createLogger } from '../../internal/kit/telemetry/logger.ts';
import { createRegistry } from '../../internal/kit/telemetry/metrics.ts';
import { macKeyText } from '../../internal/ledger/mac.ts';
import { getCheckpoint } from '../../internal/record/ledger.ts';
import { recordEvents } from '../../internal/store/record-events.ts';
import { CertificateFiles, createKeyPair } from '../support/certificate.ts';
import { readToken, startConsole } from '../support/console.ts';
import { commandsOf } from '../support/document-blocks.ts';
import { anEvent } from '../support/events.ts';
import { namesIn, temporaryFolder, withManifest } from '../support/export.ts';
import { freePort } from '../support/free-port.ts';
import { repository } from '../support/helm.ts';
import { suiteLogin } from '../support/login.ts';
import { answered, startKeeper } from '../support/owners.ts';
import { noon, storeEvents } from '../support/reading.ts';
import { macKey, publicLogKey, seal, withLeaves } from '../support/sealed-ledger.ts';
import { eachDatabase } from '../support/store.ts';

/** The commands of this checkout, by the names that documents have for them. */
const commands = `
  admin() { "${process.execPath}" "${repository}/cmd/admin/main.ts" "$@"; }
  runledger-admin() { admin "$@"; }
  node() { shift; admin "$@"; }
  docker() { [ "$2" = up ] || { shift 7; admin "$@"; }; }
  curl() { command curl --silent --fail-with-body -H 'X-Forwarded-Proto: https' "$@"; }`;

/** Runs documented lines in a folder; resolves with what they print. */
async function run(lines: readonly string[], cwd: string, settings: NodeJS.ProcessEnv = {}): Promise<string> {
  const script = [commands, ...lines].join('\n');
  const env = { ...process.env, ...settings };
  return (await promisify(execFile)('bash', ['-eo', 'pipefail', '-c', script], { cwd, env })).stdout;
}

describe('commands of documents, for somebody who has a record', () => {
  const database = eachDatabase();

  it('erase texts and an execution by docs/manage/erase.md', async () => {
    const { db } = database;
    const automationId = '0b0e8a3c-6f5e-4c6b-9f0e-3f8b9a9d1c11';
    await recordEvents(
      db,
      [anEvent({ automationId, executionId: '2026-11-21T10:37:00Z' }), anEvent({ description: 'For jane doe' })],
      withLeaves,
    );
    await using folder = await temporaryFolder();
    const settings = { DATABASE_URL: database.url, LEDGER_MAC_KEY: macKeyText(macKey) };
    await run(commandsOf('docs/manage/erase.md', 'record'), folder.path, settings);
    const left = await db.selectFrom('events').select(['description']).execute();
    expect(left).to.deep.equal([{ description: '' }]);
    expect(await readFile(join(folder.path, 'erasures.ndjson'), 'utf8')).to.include('ticket 4711');
  });

  it('export the record by docs/read/export.md', async () => {
    await storeEvents(database.db, {});
    await using folder = await temporaryFolder();
    const lines = commandsOf('docs/read/export.md', 'record').map((block) =>
      block.replace('postgres://…', database.url).replace('/backup/record', folder.path),
    );
    await run(lines, folder.path);
    expect(await namesIn(folder.path)).to.deep.equal(withManifest('organization=acme/day=2026-11-20/events.parquet'));
  });

  it('verify the record by docs/prove/auditors.md', async () => {
    await recordEvents(database.db, [anEvent({ createdAt: noon }), anEvent({ createdAt: noon })], withLeaves);
    await seal(database.db);
    const checkpoint = await getCheckpoint(database.db, 'acme');
    await using folder = await temporaryFolder();
    // The log has the manifest of an export too.
    const settings = { DATABASE_URL: database.url, LEDGER_MAC_KEY: macKeyText(macKey) };
    await run(['admin export . --format parquet'], folder.path, settings);
    await seal(database.db);
    await writeFile(join(folder.path, 'log.pub'), publicLogKey);
    await writeFile(join(folder.path, 'kept'), checkpoint?.note ?? '');
    await writeFile(join(folder.path, 'token'), readToken());
    await using files = await CertificateFiles.create(await createKeyPair('console.example'));
    const port = await freePort();
    await using _console = await startConsole(database.url, { HTTPS_PORT: String(port), ...files.settings });
    const lines = commandsOf('docs/prove/auditors.md', 'record').map((block) =>
      block
        .replace('postgres://auditor@db.example/runledger', database.url)
        .replace('/archive/organization=acme/day=2026-11-21', 'organization=acme/day=2026-11-20')
        .replace('https://console.example/', `https://localhost:${port}/`),
    );
    const said = await run(lines, folder.path, { NODE_EXTRA_CA_CERTS: files.settings.TLS_CERT_FILE });
    expect(said.match(/^Nothing was lost, added or changed/gm), said).to.have.length(2);
  });
});

describe('commands of documents, for somebody who has tokens', () => {
  const suite = suiteLogin();
  before(async () => {
    // Opens the connections that the suite keeps.
    await Promise.all(Array.from({ length: 10 }, () => sql`select pg_sleep(0.1)`.execute(suite.database.db)));
  });

  it('declare automations and make a token by docs/manage/api.md', async () => {
    await using _keeper = await startKeeper(suite, { issuer: 'https://login.example' });
    await using folder = await temporaryFolder();
    const lines = commandsOf('docs/manage/api.md', 'record').map((block) =>
      block.replace('https://console.example.com', `http://127.0.0.1:${suite.console.port}`),
    );
    const said = await run(lines, folder.path, { MANAGE_TOKEN: 'manage-token-of-acme' });
    const [planned = {}, made = {}] = said
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { created?: string[]; token?: string });
    expect(planned.created).to.deep.equal(['0b0e8a3c-6f5e-4c6b-9f0e-3f8b9a9d1c11']);
    await answered(suite);
    expect(suite.tokens.source.authenticate(made.token ?? '')).to.include({ status: 'known', scope: 'write' });
  });

  it('make the tokens of an installation by compose', async () => {
    await using folder = await temporaryFolder();
    const page = await readFile(join(repository, 'deploy/compose/README.md'), 'utf8');
    const [, install = ''] = /^```\n([^`]*)^```$/m.exec(page) ?? [];
    await run([install], folder.path);
    const metrics = tokenMetrics(createRegistry('test'));
    const path = join(folder.path, 'tokens/tokens.yaml');
    const logger = createLogger('test', 'silent');
    const source = new FileTokenSource({ path, logger, metrics, intervalMs: 60_000 });
    await source.refresh();
    for (const [name, scope] of Object.entries({ token: 'write', 'read-token': 'read' })) {
      const token = (await readFile(join(folder.path, `acme.${name}`), 'utf8')).trim();
      expect(source.authenticate(token)).to.include({ status: 'known', organization: 'acme', scope });
    }
  });
});
