import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { sql } from 'kysely';
import { readOptions } from '../../cmd/verify/options.ts';
import { run } from '../../cmd/verify/run.ts';
import { inSnapshot } from '../../internal/audit/snapshot.ts';
import { createSigningKey, readSigningKeys, verifierKeyText } from '../../internal/log/keys.ts';
import { UsageError } from '../../internal/config/arguments.ts';
import { exportFormats } from '../../internal/export/formats.ts';
import { storedEventOf } from '../../internal/record/stored-event.ts';
import type { Database } from '../../internal/store/database.ts';
import { extendLogs } from '../../internal/store/extend-logs.ts';
import { listPartitions } from '../../internal/store/partitions.ts';
import { createStore } from '../../internal/store/store.ts';
import { recordEvents } from '../../internal/store/record-events.ts';
import { anEvent } from '../support/events.ts';
import { publicLogKey, seal, servedBy } from '../support/sealed-log.ts';
import { eachDatabase } from '../support/store.ts';
import { tamperings } from '../support/tamperings.ts';

const otherKey = readSigningKeys(createSigningKey('log.example.org'))
  .map((key) => verifierKeyText(key))
  .join();
const events = Array.from({ length: 300 }, (_, at) =>
  anEvent({ createdAt: Date.now() - 300 + at, description: `mark ${at}`, executionId: `run ${at % 7}` }),
);
const first = events[100]?.id ?? '';

interface Verified {
  code: number;
  stdout: string;
  stderr: string;
}

describe('verify', () => {
  const database = eachDatabase();
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'runledger-verify-'));
  });
  after(() => rm(folder, { recursive: true }));
  beforeEach(async () => {
    // Not in the order of ids, as of workers beside each other.
    await recordEvents(database.db, events.slice(140, 280), { leaves: true });
    await recordEvents(database.db, events.slice(0, 140), { leaves: true });
    await recordEvents(database.db, [anEvent({ organization: 'globex' })], { leaves: true });
    await seal(database.db);
    await sql`update log_trees set complete_at = now()`.execute(database.db);
  });

  const verify = (...args: string[]): Promise<Verified> => verifyOn({ isTTY: false }, ...args);

  async function verifyOn({ isTTY }: { isTTY: boolean }, ...args: string[]): Promise<Verified> {
    let [stdout, stderr] = ['', ''];
    const key = args.includes('--public-key') ? [] : ['--public-key', publicLogKey];
    const code = await run([...key, '--organization', 'acme', ...args], {
      stdout: { write: (text) => (stdout += text) },
      stderr: { isTTY, write: (text) => (stderr += text) },
      database: { DATABASE_URL: database.url },
    });
    return { code, stdout, stderr };
  }

  async function file(name: string, content: string | Buffer): Promise<string> {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
    return path;
  }

  it('says that nothing was changed, with what waits, and from when on that is proven', async () => {
    await recordEvents(database.db, events.slice(280), { leaves: true });
    const [began, complete] = ['2026-11-20T10:00:00.000Z', '2026-11-20T10:10:00.000Z'];
    await sql`update log_trees set began_at = ${began}, complete_at = ${complete}`.execute(database.db);
    expect(await verify()).to.deep.equal({
      code: 0,
      stdout:
        'Nothing was lost, added or changed: 300 events of acme and 1 checkpoint match the log, which has 280 leaves.\n' +
        'Events that wait for the next checkpoint: 20.\n' +
        `The proof holds since ${began}, when the log began. Older events were sealed by ${complete}.\n`,
      stderr: '',
    });
  });

  it('shows its progress on a terminal, and clears it at the end', async () => {
    const log = await servedBy(database.db, []);
    for (const [path, content] of log) await file(`shown/${path}`, content);
    for (const where of [[], ['--log', join(folder, 'shown')]]) {
      const { stderr } = await verifyOn({ isTTY: true }, ...where);
      const pictures = stderr.split('\r\u001b[K').slice(1);
      expect(pictures.shift()).to.match(/^\[[#-]{24}\] \d+ % {2}[\d,]+ events, [\d,]+ a second$/);
      expect(pictures.pop()).to.equal('');
    }
  });

  it('reads one snapshot on several connections, while workers store events', async () => {
    const { db } = database;
    const count = async (own: Pick<Database, 'selectFrom'>): Promise<number> =>
      (await own.selectFrom('events').select('id').execute()).length;
    const seen = await inSnapshot(db, async (trx, beside) => {
      const before = await count(trx);
      await recordEvents(db, events.slice(280));
      return [before, await count(trx), await beside((own) => count(own))];
    });
    expect(seen).to.deep.equal([281, 281, 281]);
    expect(await count(db)).to.equal(301);
  });

  for (const [what, { tamper, found }] of Object.entries(tamperings(events))) {
    it(`finds that ${what}`, async () => {
      await tamper(database.db);
      const { code, stdout, stderr } = await verify();
      expect(stdout + stderr).to.match(found);
      expect(code).to.equal(1);
    });
  }

  it('finds with a checkpoint that somebody kept that all of it was rewritten or rewound', async () => {
    const { db } = database;
    const kept = await file('kept', String((await servedBy(db, [])).get('checkpoint')));
    for (const count of [280, 100]) {
      await sql`truncate events, executions, running_executions, log_tiles, log_tails, log_trees, log_checkpoints`.execute(
        db,
      );
      await recordEvents(db, events.slice(10, 10 + count), { leaves: true });
      await seal(db);
      await sql`update log_trees set complete_at = now()`.execute(db);
      expect((await verify()).code).to.equal(0);
      const { code, stdout } = await verify('--checkpoint', kept);
      expect(stdout).to.match(/^The (first 280 leaves of the log are not|log has 100 leaves, and a checkpoint of 280)/);
      expect(code).to.equal(1);
    }
  });

  it('counts the leaves of events that retention deleted', async () => {
    const { db } = database;
    const days = (count: number): number => Date.now() - count * 24 * 3_600_000;
    const settings = { partitionsAhead: 1, overdueAfterHours: 24 };
    await recordEvents(db, [anEvent({ createdAt: days(10) }), anEvent({ createdAt: days(1) })], { leaves: true });
    await createStore(db, { ...settings, retentionDays: 0 }).maintain();
    await seal(db);
    expect((await verify()).stdout).to.match(/^Nothing was lost, added or changed: 282 events/);
    await createStore(db, { ...settings, retentionDays: 3 }).maintain();
    const { code, stdout } = await verify();
    expect(stdout).to.match(/: 281 events of acme [^]*\nLeaves of events that expired or were not given: 1\.\n/);
    expect(code).to.equal(0);
  });

  it('finds that a whole partition is dropped, if it is told how many days retention keeps', async () => {
    const { db } = database;
    const lost = anEvent({ createdAt: Date.now() - 2 * 24 * 3_600_000, executionId: 'lost' });
    await recordEvents(db, [lost], { leaves: true });
    const store = createStore(db, { partitionsAhead: 1, overdueAfterHours: 24, retentionDays: 0 });
    await store.maintain();
    await seal(db);
    expect((await verify('--retention-days', '3')).code).to.equal(0);
    const [oldest] = await listPartitions(db);
    await sql`drop table ${sql.table(oldest?.name ?? '')}`.execute(db);
    await sql`delete from executions where execution_id = 'lost'`.execute(db);
    expect((await verify('--retention-days', '1')).stdout).to.contain('events that expired or were not given: 1.');
    expect(await verify('--retention-days', '3')).to.deep.equal({
      code: 1,
      stdout: `Event ${lost.id} is in the log, and not in the record: it was removed.\n`,
      stderr: '',
    });
  });

  it('uses --retention-days also if a late event has a partition of its own', async () => {
    const { db } = database;
    const days = (count: number): number => Date.now() - count * 24 * 3_600_000;
    const settings = { partitionsAhead: 1, overdueAfterHours: 24 };
    await recordEvents(db, [anEvent({ createdAt: days(8), executionId: 'expired' })], { leaves: true });
    await createStore(db, { ...settings, retentionDays: 0 }).maintain();
    await createStore(db, { ...settings, retentionDays: 3 }).maintain();
    await recordEvents(db, [anEvent({ createdAt: days(10), executionId: 'late' })], { leaves: true });
    await createStore(db, { ...settings, retentionDays: 0 }).maintain();
    await seal(db);
    expect((await verify('--retention-days', '3')).stdout).to.match(/^Nothing was lost/);
  });

  it('cannot prove what has waited for a checkpoint for more than an hour', async () => {
    const { db } = database;
    await recordEvents(db, [anEvent({ createdAt: Date.now() - 3 * 3_600_000 })], { leaves: true });
    for (const placed of [false, true]) {
      if (placed) await extendLogs(db, 1_000);
      const { code, stdout } = await verify();
      expect(stdout).to.contain(
        '\nEvents that wait for the next checkpoint: 1.\nOf these, 1 have waited for more than an hour',
      );
      expect(code).to.equal(2);
    }
  });

  it('says what it cannot check', async () => {
    const wrongKey = await verify('--public-key', otherKey);
    expect(wrongKey).to.deep.equal({ code: 2, stdout: '', stderr: 'verify: no known key signed the note\n' });
    await sql`update log_trees set complete_at = null`.execute(database.db);
    await recordEvents(database.db, events.slice(280));
    const early = await verify();
    expect(early.stdout).to.contain('Events that have no leaf yet, so that nothing proves them: 20.');
    expect(early.stdout).to.match(
      /\nThe proof holds since \S+Z, when the log began\. Older events are being sealed\.\n$/,
    );
    expect(early.code).to.equal(2);
    expect((await verify('--organization', 'initech')).stderr).to.equal('verify: There is no checkpoint of initech.\n');
    await sql`delete from log_trees`.execute(database.db);
    expect(await verify()).to.deep.equal({ code: 2, stdout: '', stderr: 'verify: There is no log of acme.\n' });
    expect((await verify('--exports', 'x')).stderr).to.match(/^verify: Unknown option '--exports'[^]*Exit code 0/);
  });

  it('says which arguments are wrong', () => {
    const key = ['--public-key', publicLogKey];
    const whole = [...key, '--organization', 'acme'];
    for (const [args, message] of [
      [[], '--public-key is required'],
      [key, '--organization is required'],
      [[...whole, '--log', 'x', '--proof', 'y'], '--log and --proof exclude each other'],
      [[...whole, '--export', 'x'], '--export needs --log or --proof'],
      [[...whole, '--witness', 'x'], '--witness needs --log or --proof'],
      [[...whole, '--retention-days', '0'], '--retention-days must be a whole number above 0'],
      [[...whole, '--retention-days', '9', '--log', 'x'], '--retention-days needs Postgres'],
    ] as const) {
      expect(() => readOptions([...args])).to.throw(UsageError, message);
    }
  });

  it('checks an export and a proof without the database', async () => {
    const { db } = database;
    const log = await servedBy(db, [first]);
    for (const [path, content] of log) await file(`log/${path}`, content);
    const rows = await db.selectFrom('events').selectAll().where('organization', '=', 'acme').orderBy('id').execute();
    const lines = rows.map((row) => String(exportFormats.ndjson.begin(false).add([storedEventOf(row)])));
    const offline = async (exported: string[], ...more: string[]) =>
      verify('--log', join(folder, 'log'), '--export', await file('export', exported.join('')), ...more);

    expect((await offline(lines)).stdout).to.match(/^Nothing was lost, added or changed: 280 events of acme/);
    const part = await offline(lines.slice(5, 9));
    expect(part.stdout).to.match(/: 4 events of acme [^]*\nLeaves of events that expired or were not given: 276\.\n$/);
    const lost = await offline(lines.toSpliced(100, 1));
    expect(lost).to.deep.include({
      code: 1,
      stdout: `Event ${first} is in the log, and not in the record: it was removed.\n`,
    });
    expect(await offline(lines.toSpliced(100, 1), '--partial')).to.deep.include({ code: 0 });
    expect((await offline([...lines, lines[100] ?? ''])).stdout).to.equal(
      `Event ${first} is in the record twice: it was added.\n`,
    );
    expect((await offline(lines.with(9, lines[9]?.replace('{', '{"approved_by":"eve",') ?? ''))).stderr).to.match(
      /^verify: A line of the export has approved_by, which no event has: /,
    );
    const newer = await offline([...lines, (lines[100] ?? '').replace(first, anEvent().id)]);
    expect(newer.stdout).to.match(
      /^Nothing was lost[^]*\nEvents that have no leaf yet, so that nothing proves them: 1\.\n$/,
    );
    expect(newer.code).to.equal(2);
    const changed = await offline(lines.with(100, lines[100]?.replace('mark', 'Mark') ?? ''));
    expect(changed).to.deep.include({
      code: 1,
      stdout: `Event ${first} is not the one that the log has: it was changed.\n`,
    });
    await rm(join(folder, 'log/tile/entries/000'));
    expect(await offline(lines)).to.deep.include({
      code: 2,
      stderr: 'verify: The log has no readable tile/entries/000.\n',
    });

    const proof = join(folder, 'log/proof', first);
    expect(await verify('--proof', proof)).to.deep.include({
      code: 0,
      stdout: `Event ${first} is leaf 240 of the 280 that the checkpoint signed.\n`,
    });
    const line = await file('line', lines[100]?.replace('mark', 'Mark') ?? '');
    expect(await verify('--proof', proof, '--export', line)).to.deep.include({ code: 1 });
  });
});
