import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { sql } from 'kysely';
import { Client } from 'pg';
import { exportDays } from '../../internal/record/archive/export-days.ts';
import { openObjects } from '../../internal/record/archive/open-objects.ts';
import { macKeyText } from '../../internal/ledger/mac.ts';
import { getCheckpoint } from '../../internal/record/ledger.ts';
import { createQueries } from '../../internal/record/queries.ts';
import { eraseEvents } from '../../internal/store/erase/erase.ts';
import { sealOlder } from '../../internal/store/ledger/seal-older.ts';
import { recordEvents } from '../../internal/store/record-events.ts';
import { withExportLock } from '../../internal/store/partitions/with-export-lock.ts';
import { anEvent } from '../support/events.ts';
import {
  acme20,
  globex20,
  manifestOf,
  namesIn,
  runExport,
  temporaryFolder,
  withManifest,
  type ExportRun,
} from '../support/export.ts';
import { failureOf } from '../support/failure.ts';
import { day } from '../support/maintenance-day.ts';
import { noon, storeEvents, type SomeEvent } from '../support/reading.ts';
import { runVerify } from '../support/run-verify.ts';
import { macKey, seal, servedBy, withLeaves } from '../support/sealed-ledger.ts';
import { eachDatabase, openDatabase } from '../support/store.ts';

const acme21 = 'organization=acme/day=2026-11-21/events.ndjson';

describe('the command export', () => {
  const database = eachDatabase();
  const store = (...events: SomeEvent[]): Promise<unknown> => storeEvents(database.db, ...events);
  const command = (...args: string[]): Promise<ExportRun> =>
    runExport({ DATABASE_URL: database.url, LEDGER_MAC_KEY: macKeyText(macKey) }, args);
  /** Exports into a folder, and resolves with what was printed. */
  const exportTo = async (folder: string, ...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await command(folder, '--format', 'ndjson', ...args);
    expect(code, stderr).to.equal(0);
    return `${stdout.toString()}${stderr}`;
  };
  const storeThree = (): Promise<unknown> =>
    store({}, { executionId: 'b' }, { organization: 'globex' }, { createdAt: noon + day });

  it('writes one object a day and organization, with a manifest, and nothing twice', async () => {
    await storeThree();
    await using folder = await temporaryFolder();
    expect(await exportTo(folder.path)).to.contain('wrote 3 days of organizations with 4 events; 0 days');
    expect(await namesIn(folder.path)).to.deep.equal(withManifest(acme20, acme21, globex20));
    const object = await readFile(join(folder.path, acme20));
    const manifest = await manifestOf(folder.path, acme20);
    const lines = object.toString().trimEnd().split('\n');
    // An object is sorted by automation and execution.
    const events = lines.map((line) => JSON.parse(line) as { created_at: string; id: string; execution_id: string });
    expect(events.map(({ execution_id }) => execution_id)).to.deep.equal(['b', 'run 1']);
    const [last, first] = events;
    expect(lines).to.have.lengthOf(2);
    expect(manifest).to.deep.include({
      organization: 'acme',
      day: '2026-11-20',
      object: 'events.ndjson',
      rows: 2,
      bytes: object.length,
      sha256: createHash('sha256').update(object).digest('hex'),
      first: { createdAt: first?.created_at, id: first?.id },
      last: { createdAt: last?.created_at, id: last?.id },
      checkpoint: null,
    });

    await store({ executionId: 'of a day that is there' });
    const again = await command(pathToFileURL(folder.path).href, '--format', 'ndjson');
    expect(again.stderr).to.contain('wrote 0 days of organizations with 0 events; 3 days');
    expect(await readFile(join(folder.path, acme20))).to.deep.equal(object);
  });

  it('exports the wanted days and organizations only, and no day that has just ended', async () => {
    const yesterday = Math.floor(Date.now() / day) * day - 1;
    await storeThree();
    await store({ createdAt: yesterday });
    await using folder = await temporaryFolder();
    await exportTo(folder.path, '--organization', 'acme', '--from', '2026-11-21');
    expect(await namesIn(folder.path)).to.deep.equal(withManifest(acme21));
    await exportTo(folder.path, '--settle-hours', '0', '--organization', 'acme', '--from', '2026-11-22');
    const name = `organization=acme/day=${new Date(yesterday).toISOString().slice(0, 10)}/events.ndjson`;
    expect(await namesIn(folder.path)).to.deep.equal(withManifest(acme21, name));
  });

  it('continues where an error ended it, and keeps nothing of a day that it had not finished', async () => {
    await storeThree();
    await using folder = await temporaryFolder();
    const record = createQueries(database.db);
    const run = {
      db: database.db,
      objects: await openObjects(folder.path),
      format: 'ndjson' as const,
      from: 0,
      to: noon + 3 * day,
      recheckBefore: 0,
    };
    const failing = {
      async pageOfDay(...args: Parameters<typeof record.pageOfDay>) {
        if (args[0] === 'globex') throw new Error('Postgres is unavailable');
        return record.pageOfDay(...args);
      },
    };
    expect(String(await failureOf(exportDays({ ...run, record: failing })))).to.contain('Postgres is unavailable');
    expect(await namesIn(folder.path)).to.deep.equal(withManifest(acme20));
    // A crash may leave an object without its manifest.
    await rm(join(folder.path, `${acme20}.manifest.json`));
    await writeFile(join(folder.path, acme20), 'half an ob');
    expect(await exportDays({ ...run, record })).to.deep.equal({ written: 3, kept: 0, events: 4 });
    expect(await namesIn(folder.path)).to.deep.equal(withManifest(acme20, acme21, globex20));
    expect(await readFile(join(folder.path, acme20), 'utf8')).to.match(/^\{.*\}\n\{.*\}\n$/);
  });

  it('writes a further object for a day that has other events now, or whose object has changed', async () => {
    await store({});
    await using folder = await temporaryFolder();
    await exportTo(folder.path);
    expect(await exportTo(folder.path, '--recheck')).to.contain('wrote 0 days');
    await store({ executionId: 'later' });
    expect(await exportTo(folder.path, '--recheck')).to.contain('wrote 1 day');
    const second = acme20.replace('events', 'events-2');
    expect(await namesIn(folder.path)).to.have.members(withManifest(acme20, second));
    expect(await manifestOf(folder.path, second)).to.include({ rows: 2, object: 'events-2.ndjson' });

    await writeFile(join(folder.path, second), 'changed');
    expect(await exportTo(folder.path, '--recheck')).to.contain('wrote 1 day');
    await rm(join(folder.path, acme20.replace('events', 'events-3')));
    expect(await exportTo(folder.path, '--recheck')).to.contain('wrote 1 day');
    expect(await manifestOf(folder.path, acme20.replace('events', 'events-4'))).to.include({ rows: 2 });
  });

  it('writes a further object for a day whose texts were erased', async () => {
    await store({ description: 'for Jane' });
    await store({});
    await using folder = await temporaryFolder();
    await exportTo(folder.path);
    const erasure = { organization: 'acme', before: new Date(), by: 'ana', reason: 'ticket 7', text: 'jane' };
    await eraseEvents(database.db, erasure, 10).next();
    expect(await exportTo(folder.path, '--recheck')).to.contain('wrote 1 day');
    const second = acme20.replace('events', 'events-2');
    expect(await readFile(join(folder.path, second), 'utf8')).not.to.contain('Jane');
    expect(await manifestOf(folder.path, second)).to.include({ rows: 2, erased_texts: 1 });
    expect(await exportTo(folder.path, '--recheck')).to.contain('wrote 0 days');
  });

  it('writes a further object for a day whose events were sealed, with their salts', async () => {
    await store({ description: 'before the log' });
    await using folder = await temporaryFolder();
    await exportTo(folder.path);
    const step = { organization: 'acme', by: 'ana', reason: 'ticket 7', most: 10, pageSize: 10 };
    expect(await sealOlder(database.db, macKey, step)).to.include({ added: 1 });
    expect(await exportTo(folder.path, '--recheck')).to.contain('wrote 1 day');
    const second = acme20.replace('events', 'events-2');
    expect(await readFile(join(folder.path, second), 'utf8')).to.match(/"salt":"[0-9a-f]{32}"/);
    expect(await manifestOf(folder.path, second)).to.include({ rows: 1, sealings: 1 });
    expect(await exportTo(folder.path, '--recheck')).to.contain('wrote 0 days');
  });

  it('compares the days that retention drops next', async () => {
    await store({});
    await using folder = await temporaryFolder();
    const env = (days: number) => ({ DATABASE_URL: database.url, RETENTION_DAYS: String(days) });
    await exportTo(folder.path);
    await store({ executionId: 'later' });
    const dayOf = (time: number): number => Math.floor(time / day);
    const age = dayOf(Date.now()) - dayOf(noon);
    const args = [folder.path, '--format', 'ndjson'];
    // A day more, because midnight may pass.
    expect((await runExport(env(age + 2), args)).stderr).to.contain('wrote 0 days');
    expect((await runExport(env(age), args)).stderr).to.contain('wrote 1 day');
  });

  it('shows its progress on a terminal, and says what it wrote', async () => {
    await storeThree();
    await using folder = await temporaryFolder();
    const { stdout, stderr } = await runExport({ DATABASE_URL: database.url }, [folder.path], true);
    expect(stderr).to.match(/\[-{24}\] 0 % {2}acme 2026-11-20 {2}0 events, 0 a second/);
    const last = stderr.split('\r\u001b[K').at(-1);
    expect(last).to.match(/^file:.+: wrote 3 days of organizations with 4 events; 0 days .*\n$/);
    const [line] = stdout.toString().split('\n');
    const { sha256 } = await manifestOf(folder.path, acme20.replace('ndjson', 'parquet'));
    expect(line).to.equal(`${sha256}  organization=acme/day=2026-11-20/events.parquet  2 events`);
  });

  it('writes to standard output, and continues after a place with the same bytes', async () => {
    await store(...Array.from({ length: 5 }, (_, at) => ({ executionId: `run ${at}` })), { organization: 'globex' });
    for (const format of ['ndjson', 'csv']) {
      const args = ['-', '--organization', 'acme', '--format', format];
      const whole = await command(...args);
      const sha256 = createHash('sha256').update(whole.stdout).digest('hex');
      expect(whole).to.deep.include({ code: 0, stderr: `5 events, SHA-256 ${sha256}\n` });
      const all = await createQueries(database.db).listEvents('acme', {}, { limit: 5 });
      const { created_at = '', id = '' } = all.items[1] ?? {};
      const rest = await command(...args, '--after', `${created_at},${id}`);
      expect(rest.stdout.toString()).to.equal(
        whole.stdout
          .toString()
          .split(/(?<=\n)/)
          .at(-1),
      );
    }
  });

  it('keeps the newest checkpoint of the log, with which verify checks the object', async () => {
    const texts = { description: 'a', errorDescription: 'Zürich "✓"\n' };
    const events = [anEvent({ createdAt: noon, ...texts }), anEvent({ createdAt: noon, occurredAt: noon + 1 })];
    await recordEvents(database.db, events, withLeaves);
    await seal(database.db);
    await using folder = await temporaryFolder();
    await exportTo(folder.path);
    const { checkpoint } = await manifestOf(folder.path, acme20);
    expect(checkpoint).to.equal((await getCheckpoint(database.db, 'acme'))?.note);

    const [log, kept] = [join(folder.path, 'log'), join(folder.path, 'kept')];
    const serve = async (): Promise<void> => {
      await seal(database.db);
      for (const [path, content] of await servedBy(database.db, [])) {
        await mkdir(dirname(join(log, path)), { recursive: true });
        await writeFile(join(log, path), content);
      }
    };
    await serve();
    await writeFile(kept, checkpoint ?? '');
    const object = join(folder.path, acme20);
    const said: string[] = [];
    const verifyExport = async (file: string): Promise<number> => {
      const { code, stdout, stderr } = await runVerify('', ['--log', log, '--export', file, '--checkpoint', kept]);
      said.push(stdout + stderr);
      return code;
    };
    expect(await verifyExport(object), said.join('')).to.equal(0);
    await writeFile(object, (await readFile(object, 'utf8')).replace('"description":"a"', '"description":"x"'));
    expect(await verifyExport(object), said.join('')).to.equal(1);

    const inParquet = object.replace('ndjson', 'parquet');
    await command(folder.path);
    expect(await verifyExport(inParquet), said.join('')).to.equal(2);
    expect(said.at(-1)).to.contain('events.parquet.manifest.json is not in the log yet');
    await serve();
    expect(await verifyExport(inParquet), said.join('')).to.equal(0);
    expect(said.at(-1)).to.contain('Nothing was lost, added or changed: 2 events of acme');
    await writeFile(inParquet, (await readFile(inParquet)).subarray(0, -8));
    expect(await verifyExport(inParquet)).to.equal(1);
    expect(said.at(-1)).to.match(
      /^Something was lost, added or changed: 1 finding\.\n\S+\/events\.parquet has not the SHA-256 of its manifest: it was changed\.\n\S+\/events\.parquet cannot be read as Parquet: /,
    );
  });

  it('leaves a place to the export that writes there', async () => {
    await using folder = await temporaryFolder();
    const { href } = pathToFileURL(folder.path);
    const second = await withExportLock(database.db, href, () => command(folder.path));
    expect(second).to.deep.include({ code: 1, stderr: `export: another export writes to ${href}\n` });
    await exportTo(folder.path);
  });

  it('keeps its place for longer than Postgres lets a transaction be idle', async () => {
    const name = sql.id(new URL(database.url).pathname.slice(1));
    await sql`alter database ${name} set idle_in_transaction_session_timeout = '300ms'`.execute(database.db);
    await using db = openDatabase(database.url);
    const later = new Client({ connectionString: database.url });
    await later.connect();
    const untilPostgresEndsIt = async (): Promise<void> => {
      const { promise: ended, resolve } = Promise.withResolvers<void>();
      later.on('error', () => undefined);
      later.once('end', resolve);
      await later.query('begin');
      await ended;
    };
    await withExportLock(db, 'file:///somewhere', untilPostgresEndsIt);
  });

  it('says that an organization has no events, and exports the others', async () => {
    await store({});
    await using folder = await temporaryFolder();
    const args = [folder.path, '--format', 'ndjson', '--organization'];
    const { code, stderr } = await command(...args, 'nope', '--organization', 'acme', '--organization', 'nada');
    expect([code, stderr]).to.deep.equal([1, 'export: There are no events of nope, nada.\n']);
    expect(await namesIn(folder.path)).to.deep.equal(withManifest(acme20));
    expect((await command(...args, 'acme', '--from', '2026-11-21')).stderr).to.contain('nothing to export');

    const stream = await command('-', '--organization', 'nope', '--format', 'csv');
    expect(stream).to.deep.equal({ code: 1, stdout: Buffer.of(), stderr: 'export: There are no events of nope.\n' });
    const none = await command('-', '--organization', 'acme', '--from', '2026-11-21');
    expect(none).to.deep.include({ code: 0, stdout: Buffer.of() });
  });
});
