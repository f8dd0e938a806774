import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { sql } from 'kysely';
import { macKeyText } from '../../../internal/ledger/mac.ts';
import { Archive } from '../../../internal/record/archive/archive.ts';
import { createQueries, defaultQueryOptions, type Queries } from '../../../internal/record/queries.ts';
import { advisoryLocks } from '../../../internal/store/advisory-locks.ts';
import { listColdObjects } from '../../../internal/store/partitions/cold-days.ts';
import { dayOf } from '../../../internal/store/partitions/days.ts';
import { maintain } from '../../../internal/store/partitions/maintain.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { runAdmin } from '../../support/admin.ts';
import { Child } from '../../support/child.ts';
import { expectColdAsHot, patienceOfRuns } from '../../support/cold-answers.ts';
import { makeCold, withArchive } from '../../support/cold-days.ts';
import { smallBlocks } from '../../support/compacted.ts';
import { startConsole } from '../../support/console.ts';
import { anEvent } from '../../support/events.ts';
import { namesIn, runExport, temporaryFolder } from '../../support/export.ts';
import { failureOf } from '../../support/failure.ts';
import { day, keepAll } from '../../support/maintenance-day.ts';
import { macKey, publicLogKey, seal, withLeaves } from '../../support/sealed-ledger.ts';
import { eachDatabase, openSession, storedEvents, storedExecutions, wrongRunning } from '../../support/store.ts';
import { until } from '../../support/until.ts';

const old = dayOf(Date.now()) - 8 * day;
const options = { ...defaultQueryOptions, searchMs: 60_000, busyRowsPerSecond: 1e9 };

describe('days that only the archive has', function suite() {
  this.timeout(120_000);
  const database = eachDatabase();
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  afterEach(() => folder[Symbol.asyncDispose]());

  const store = (...events: Parameters<typeof anEvent>[0][]) =>
    recordEvents(
      database.db,
      events.map((event, at) => anEvent({ createdAt: old + at, ...event })),
    );

  it('give the same answers as Postgres, row for row', () =>
    expectColdAsHot((run) => join(folder.path, String(run)))).timeout(patienceOfRuns);

  it('have packed indexes before, from the first export on', async () => {
    await store({});
    await maintain(database.db, { ...keepAll, now: Date.now() });
    const env = { DATABASE_URL: database.url, ARCHIVE_URL: pathToFileURL(folder.path).href, HOT_DAYS: '20' };
    const name = `events_${new Date(old).toISOString().slice(0, 10).replaceAll('-', '')}`;
    const first = await runExport(env, []);
    expect(first.stderr).to.contain(`packed the indexes of ${name}\n`);
    expect((await runExport(env, [])).stderr).to.not.contain('packed');
  });

  it('let executions share rows once a day, and again after a late event', async () => {
    const { db, url } = database;
    const runs = Array.from({ length: 10 }, (_, at) => ({ executionId: `run ${at}`, createdAt: old + at * 1_000 }));
    await store(...runs.flatMap((run) => (['START', 'END'] as const).map((kind) => ({ ...run, kind }))));
    const { compacted, compactedTo } = await makeCold({ db, url, compaction: smallBlocks }, folder.path);
    expect(compacted).to.equal(9);
    await store({ executionId: 'run 1', createdAt: Date.now(), occurredAt: old + 1_500 });
    const archive = new Archive(db, pathToFileURL(folder.path).href);
    const options = {
      ...keepAll,
      now: Date.now(),
      hotDays: 2,
      compaction: smallBlocks,
      findArchived: (...args: Parameters<typeof archive.find>) => archive.find(...args),
    };
    expect(await maintain(db, { ...options, compacted: compactedTo })).to.not.have.property('compacted');
    // The neighbors of the one that has just changed.
    expect(await maintain(db, options)).to.have.property('compacted', 2);
    await archive.close();
  });

  it('say which object an answer comes from', async () => {
    await store({ executionId: 'run' }, { executionId: 'run', createdAt: Date.now() });
    await makeCold(database, folder.path);
    const record = createQueries(withArchive(database.db, folder.path));
    const { items, archived } = await record.listEvents('acme', { executionId: 'run' }, { limit: 9 });
    expect(items).to.have.lengthOf(2);
    const [source, ...others] = archived ?? [];
    expect(others).to.deep.equal([]);
    expect(source).to.include({ day: new Date(old).toISOString().slice(0, 10), object: 'events.parquet' });
    expect(source?.manifest_sha256).to.match(/^[0-9a-f]{64}$/);
    const newest = await record.listEvents('acme', { executionId: 'run', from: new Date(old + day) }, { limit: 9 });
    expect(newest).to.not.have.property('archived');
  });

  it('are searched for executions a day at a time, with the objects that have them', async () => {
    const texts = ['Jane Doe', 'nothing', 'Jane Roe', 'nothing', 'Jane Foe'];
    await store(
      ...texts.map((description, at) => ({
        executionId: `run ${at}`,
        createdAt: old + at * day,
        description,
        ...(at === 4 && { kind: 'ERROR' as const, errorId: 'E-1' }),
      })),
    );
    await makeCold(database, folder.path);
    const db = withArchive(database.db, folder.path);
    const record = createQueries(db, { ...options, searchMs: 0 });
    const pages: { ids: string[]; days: string[]; from: string | undefined }[] = [];
    let page: Awaited<ReturnType<Queries['listExecutions']>> | undefined;
    do {
      page = await record.listExecutions('acme', { q: 'jane' }, { limit: 9, after: page?.next });
      const { items, archived = [], searched_from: from } = page;
      pages.push({
        ids: items.map(({ execution_id: id }) => id),
        days: archived.map((one) => one.day),
        from: from?.slice(0, 10),
      });
    } while (page.next !== undefined);
    const dayAt = (at: number): string => new Date(old + at * day).toISOString().slice(0, 10);
    expect(pages).to.deep.equal([
      { ids: ['run 4'], days: [dayAt(4)], from: dayAt(4) },
      { ids: [], days: [], from: dayAt(3) },
      { ids: ['run 2'], days: [dayAt(2)], from: dayAt(2) },
      { ids: [], days: [], from: dayAt(1) },
      { ids: ['run 0'], days: [dayAt(0)], from: undefined },
    ]);
    const all = await createQueries(db, options).listExecutions('acme', { q: 'jane', errorId: 'E-1' }, { limit: 9 });
    expect(all.items.map(({ execution_id: id }) => id)).to.deep.equal(['run 4']);
    expect(all.archived?.map((one) => one.day)).to.deep.equal([dayAt(4)]);
    await using console = await startConsole(database.url, { ARCHIVE_URL: pathToFileURL(folder.path).href });
    const found = (await console.client.send({ path: '/v1/executions/?q=jane' })).json<{ archived: unknown[] }>();
    expect(found.archived).to.have.lengthOf(3);
    expect((await console.client.send({ path: '/v1/executions/' })).json()).to.not.have.property('archived');
  });

  it('get a further object for an event that comes late', async () => {
    await store({ executionId: 'run' });
    await makeCold(database, folder.path);
    const db = withArchive(database.db, folder.path);
    await store({ executionId: 'run', createdAt: old + 5_000 });
    const record = createQueries(db);
    const list = async () => (await record.listEvents('acme', { executionId: 'run' }, { limit: 9 })).items;
    const both = await list();
    expect(both).to.have.lengthOf(2);
    expect((await makeCold(database, folder.path)).cooled).to.have.lengthOf(1);
    expect(await storedEvents(database.db)).to.deep.equal([]);
    expect(await list()).to.deep.equal(both);
    expect((await namesIn(folder.path)).filter((name) => name.endsWith('.parquet'))).to.have.lengthOf(2);
  });

  it('count no event twice that is delivered again, also when they become cold meanwhile', async () => {
    const events = [0, 1, 2].map((at) => anEvent({ createdAt: old + at, executionId: 'run' }));
    const [late, recent] = [anEvent({ createdAt: old + 9, executionId: 'run' }), anEvent({ executionId: 'run' })];
    await recordEvents(database.db, events);
    let archive: Promise<unknown> | undefined;
    const meanwhile = database.db.withPlugin({
      transformQuery: ({ node }) => node,
      transformResult: async ({ result }) => {
        await (archive ??= makeCold(database, folder.path));
        return result;
      },
    });
    expect(await recordEvents(withArchive(meanwhile, folder.path), [...events, recent])).to.include({ stored: 1 });
    expect(await storedEvents(database.db)).to.have.lengthOf(1);
    const withLate = [...events, late, late, recent];
    expect(await recordEvents(withArchive(database.db, folder.path), withLate)).to.include({ stored: 1 });
    expect(await storedExecutions(database.db)).to.have.nested.property('[0].counts.EVENT', 5);
    const away = withArchive(database.db, join(folder.path, 'no such volume'));
    expect(await failureOf(recordEvents(away, events))).to.have.property('name', 'ArchiveSilent');
    expect(await storedEvents(database.db)).to.have.lengthOf(2);
  });

  it('are never left out in silence: neither without their archive, nor once an object has changed', async () => {
    await store({ executionId: 'run' });
    await makeCold(database, folder.path);
    const list = (record: Queries) => failureOf(record.listEvents('acme', { executionId: 'run' }, { limit: 9 }));
    expect(await list(createQueries(database.db))).to.have.property('name', 'ArchiveAway');
    const read = () => list(createQueries(withArchive(database.db, folder.path)));
    const [object = '', manifest = ''] = (await namesIn(folder.path)).map((name) => join(folder.path, name));
    for (const file of [object, manifest]) {
      await writeFile(file, 'changed', { flag: 'r+' });
      expect(await read()).to.have.property('name', 'ArchiveDamaged');
    }
    await rm(manifest);
    expect(await read()).to.have.property('name', 'ArchiveDamaged');
  });

  it('answer over HTTP with their source, or with 503 while the archive is away; hot days as ever', async () => {
    await store({ executionId: 'old' }, { executionId: 'new', createdAt: Date.now() });
    await makeCold(database, folder.path);
    await using console = await startConsole(database.url, { ARCHIVE_URL: pathToFileURL(folder.path).href });
    const get = (id: string) => console.client.send({ path: `/v1/executions/${anEvent().automationId}/${id}/events/` });
    const { items, archived } = (await get('old')).json<{ items: unknown[]; archived: unknown[] }>();
    expect([items.length, archived.length]).to.deep.equal([1, 1]);
    expect((await get('new')).json()).to.not.have.property('archived');
    const page = await console.client.send({ path: '/v1/events/?q=nothing&limit=1' });
    expect(page.json()).to.deep.include({ items: [], next_cursor: null });

    await using elsewhere = await startConsole(database.url, { ARCHIVE_URL: 'file:///no/such/volume' });
    const ask = (id: string) =>
      elsewhere.client.send({ path: `/v1/executions/${anEvent().automationId}/${id}/events/` });
    expect((await ask('old')).status).to.equal(503);
    expect((await ask('new')).status).to.equal(200);
    const metrics = await elsewhere.telemetry.registry.metrics();
    expect(metrics).to.match(/runledger_archive_reads_total\{[^}]*outcome="away"[^}]*\} 1\n/);
    expect(metrics).to.match(/runledger_console_rejections_total\{[^}]*reason="archive"[^}]*\} 1\n/);
  });

  it('come back to Postgres for an erasure, and leave it again without what was erased', async () => {
    await store({ executionId: 'run', description: 'Jane Doe' }, { executionId: 'run', createdAt: old + day });
    await makeCold(database, folder.path);
    const env = { DATABASE_URL: database.url, ARCHIVE_URL: pathToFileURL(folder.path).href };
    const erase = (...args: string[]) =>
      runAdmin(['erase', '--organization', 'acme', '--by', 'a', '--reason', 'b', '--text', 'jane', ...args], { env });
    expect((await erase()).stderr).to.contain('1 day of it would come back from the archive');
    expect(await storedEvents(database.db)).to.deep.equal([]);
    expect(await erase('--yes')).to.have.property('code', 0);
    expect(await storedEvents(database.db)).to.have.lengthOf(1);
    expect((await makeCold(database, folder.path)).cooled).to.have.lengthOf(1);
    const record = createQueries(withArchive(database.db, folder.path));
    const { items } = await record.listEvents('acme', { executionId: 'run' }, { limit: 9 });
    expect(items.map(({ description }) => description)).to.deep.equal(['', '']);
  });

  it('come back once more if a worker moves them to the archive before the erasure', async () => {
    await store({ executionId: 'run', description: 'Jane Doe' });
    await makeCold(database, folder.path);
    await using session = await openSession(database.url);
    await session.query(`select pg_advisory_lock(${advisoryLocks.seal})`);
    const env = { DATABASE_URL: database.url, ARCHIVE_URL: pathToFileURL(folder.path).href };
    const why = ['--by', 'a', '--reason', 'b', '--text', 'jane', '--yes'];
    const erasing = runAdmin(['erase', '--organization', 'acme', ...why], { env });
    const waiting = `select from pg_locks join pg_database d on d.oid = database
      where locktype = 'advisory' and not granted and datname = current_database()`;
    await until('the erasure waits', async () => (await session.query(waiting)).rows.length > 0);
    expect((await makeCold(database, folder.path)).cooled).to.have.lengthOf(1);
    await session.query(`select pg_advisory_unlock(${advisoryLocks.seal})`);
    expect(await erasing).to.have.property('code', 0);
    const record = createQueries(withArchive(database.db, folder.path));
    const { items } = await record.listEvents('acme', { executionId: 'run' }, { limit: 9 });
    expect(items.map(({ description }) => description)).to.deep.equal(['']);
  });

  it('stay in Postgres if an erasure changes them between the look at the archive and the move', async () => {
    await store({ executionId: 'run', description: 'Jane Doe' });
    const place = pathToFileURL(folder.path).href;
    const env = { DATABASE_URL: database.url, ARCHIVE_URL: place };
    const run = { ...keepAll, now: Date.now() };
    await maintain(database.db, run);
    expect(await runExport({ ...env, HOT_DAYS: '2' }, [])).to.have.property('code', 0);
    await using stack = new AsyncDisposableStack();
    const archive = stack.adopt(new Archive(database.db, place), (open) => open.close());
    let erased = false;
    const findArchived: Archive['find'] = async (...args) => {
      const found = await archive.find(...args);
      if (!erased) {
        const why = ['--by', 'a', '--reason', 'b', '--text', 'jane', '--yes'];
        expect(await runAdmin(['erase', '--organization', 'acme', ...why], { env })).to.have.property('code', 0);
        erased = true;
      }
      return found;
    };
    const changed = /^an erasure or `seal` has changed events_/;
    const { cooled, waiting } = await maintain(database.db, { ...run, hotDays: 2, findArchived });
    expect([cooled, waiting?.partitions]).to.deep.equal([[], 1]);
    expect(waiting?.reason).to.match(changed);
    erased = false;
    await store({ executionId: 'second', description: 'Jane Roe' });
    expect(await runExport({ ...env, HOT_DAYS: '2' }, ['--recheck'])).to.have.property('code', 0);
    const expired = await maintain(database.db, { ...run, retentionDays: 5, findArchived });
    expect(expired.waiting?.reason).to.match(changed);
    expect(await storedEvents(database.db)).to.have.lengthOf(2);
  });

  it('are never written over by a later export, not even once their manifest is gone', async () => {
    await store({ executionId: 'run' });
    await makeCold(database, folder.path);
    const [object = '', manifest = ''] = (await namesIn(folder.path)).map((name) => join(folder.path, name));
    const before = await readFile(object);
    withArchive(database.db, folder.path);
    await store({ executionId: 'late' });
    await rm(manifest);
    expect((await makeCold(database, folder.path)).cooled).to.have.lengthOf(1);
    expect(await readFile(object)).to.deep.equal(before);
    expect((await listColdObjects(database.db, 'acme')).map(({ object }) => object)).to.deep.equal([
      'events.parquet',
      'events-2.parquet',
    ]);
  });

  it('are forgotten after retention, with the executions that ended in them', async () => {
    const { db } = database;
    await store({ executionId: 'old' }, { executionId: 'long' }, { executionId: 'long', createdAt: Date.now() });
    await makeCold(database, folder.path);
    const executions = async () => (await storedExecutions(db)).map(({ executionId }) => executionId).toSorted();
    expect(await executions()).to.deep.equal(['long', 'old']);
    const run = { ...keepAll, now: Date.now(), macKey, hotDays: 2 };
    await maintain(db, { ...run, retentionDays: 9 });
    expect(await listColdObjects(db, 'acme')).to.have.lengthOf(1);
    await maintain(db, { ...run, retentionDays: 7 });
    expect(await listColdObjects(db, 'acme')).to.deep.equal([]);
    expect(await executions()).to.deep.equal(['long']);
    const { rows } = await sql<{ act: string }>`select act from log_acts`.execute(db);
    expect(rows.map(({ act }) => act).join('')).to.contain('events-expired');
    expect(await wrongRunning(db)).to.deep.equal([]);
  });

  it('wait for their archive, and delay no other day', async () => {
    await store({}, { createdAt: old + day, organization: 'globex' });
    const { cooled, waiting } = await makeCold(database, folder.path, {}, '--organization', 'globex');
    expect(cooled).to.have.lengthOf(1);
    expect(waiting).to.deep.include({ partitions: 1 });
    expect(waiting?.reason).to.match(/^no export of acme on /);
  });

  it('have each event in one of the two places, whenever the process is killed that moves them', async () => {
    const events = Array.from({ length: 2_000 }, (_, at) =>
      anEvent({ createdAt: old + (at % 5) * day + at, executionId: `run ${at % 50}`, organization: `o${at % 2}` }),
    );
    await recordEvents(database.db, events);
    await maintain(database.db, { ...keepAll, now: Date.now() });
    const record = createQueries(withArchive(database.db, folder.path), options);
    const read = async (): Promise<number> => {
      const ids = new Set<string>();
      for (const organization of ['o0', 'o1']) {
        for await (const { items } of record.exportEvents(organization, {}, { limit: 2_000 })) {
          for (const { id } of items) ids.add(`${organization} ${id}`);
        }
      }
      return ids.size;
    };
    const script = join(import.meta.dirname, '../../support/cool-days.ts');
    let left = (await storedEvents(database.db)).length;
    for (let killed = 0; left > 0; killed += 1) {
      const child = new Child(process.execPath, [script, 'cool', database.url, folder.path]);
      // Each run gets a little further, and the last one ends by itself.
      const timer = setTimeout(() => child.process.kill('SIGKILL'), 1_000 + killed * 1_000);
      await child.exited;
      clearTimeout(timer);
      expect(await read(), `events after ${killed} kills`).to.equal(events.length);
      left = (await storedEvents(database.db)).length;
    }
  });

  it('are compared by verify, event by event with their archive', async () => {
    await recordEvents(database.db, [anEvent({ createdAt: old }), anEvent()], withLeaves);
    await seal(database.db);
    await makeCold(database, folder.path, { LEDGER_MAC_KEY: macKeyText(macKey) });
    const withoutArchive = ['verify', '--organization', 'acme', '--public-key', publicLogKey];
    const run = async (args: string[]) => (await runAdmin(args, { env: { DATABASE_URL: database.url } })).stdout;
    expect(await run(withoutArchive))
      .to.contain('1 events from')
      .and.contain('are in the archive only');
    const verify = () => run([...withoutArchive, '--archive', folder.path]);
    expect(await verify())
      .to.contain('2 events')
      .and.not.match(/in the archive only|was removed/);
    // A late event has an object of its own, which does not replace the first.
    const db = withArchive(database.db, folder.path);
    await recordEvents(db, [anEvent({ createdAt: old + 9 })], withLeaves);
    await seal(database.db);
    await makeCold(database, folder.path, { LEDGER_MAC_KEY: macKeyText(macKey) });
    // Nobody gave this one a leaf.
    await recordEvents(db, [anEvent({ createdAt: old + 10 })]);
    await makeCold(database, folder.path, { LEDGER_MAC_KEY: macKeyText(macKey) });
    expect(await storedEvents(database.db)).to.have.lengthOf(1);
    expect(await verify())
      .to.contain('is in the record, and not in the log: it was added')
      .and.not.contain('was removed');
    const object = (await namesIn(folder.path)).find((name) => name.endsWith('/events.parquet')) ?? '';
    for (const name of [object, `${object}.manifest.json`]) await rm(join(folder.path, name));
    expect(await verify()).to.match(
      /The archive lacks \S+\/events.parquet.manifest.json, which the log has: it was removed/,
    );
  });

  it('leave Postgres once the log knows their manifests, which an export needs a key for', async () => {
    const env = { DATABASE_URL: database.url, ARCHIVE_URL: pathToFileURL(folder.path).href, HOT_DAYS: '2' };
    await store({});
    expect((await runExport(env, [])).code).to.equal(0);
    // From now on there is a log.
    await recordEvents(database.db, [anEvent()], withLeaves);
    await seal(database.db);
    const archive = new Archive(database.db, env.ARCHIVE_URL);
    const findArchived = (...args: Parameters<Archive['find']>) => archive.find(...args);
    const report = await maintain(database.db, { ...keepAll, now: Date.now(), hotDays: 2, findArchived });
    await archive.close();
    const isoOld = new Date(old).toISOString().slice(0, 10);
    const reason = `the log lacks the manifest of acme on ${isoOld}: export with LEDGER_MAC_KEY`;
    expect(report).to.deep.include({ cooled: [], waiting: { partitions: 1, reason } });
    const { code, stderr } = await runExport(env, []);
    expect(code).to.equal(2);
    expect(stderr).to.contain('acme has a log: with HOT_DAYS, set LEDGER_MAC_KEY, so that it knows the export');
    expect((await makeCold(database, folder.path, { LEDGER_MAC_KEY: macKeyText(macKey) })).cooled).to.have.lengthOf(1);
    const args = ['verify', '--organization', 'acme', '--public-key', publicLogKey, '--archive', folder.path];
    const { stdout } = await runAdmin(args, { env: { DATABASE_URL: database.url } });
    expect(stdout)
      .to.contain('1 object that the log knows, unchanged')
      .and.not.match(/was added|was removed/);
  });
});
