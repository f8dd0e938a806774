import { expect } from 'chai';
import { sql } from 'kysely';
import { inSnapshot } from '../../internal/audit/snapshot.ts';
import { createSigningKey, readSigningKeys, verifierKeyText } from '../../internal/log/keys.ts';
import type { Database } from '../../internal/store/database.ts';
import { extendLogs } from '../../internal/store/extend-logs.ts';
import { listPartitions } from '../../internal/store/partitions.ts';
import { beginLogs, sealExisting } from '../../internal/store/seal-existing.ts';
import { createStore } from '../../internal/store/store.ts';
import { recordEvents } from '../../internal/store/record-events.ts';
import { anEvent } from '../support/events.ts';
import { freePort } from '../support/free-port.ts';
import { runVerify, seal280, type Verified } from '../support/run-verify.ts';
import { seal, servedBy, withLeaves } from '../support/sealed-log.ts';
import { eachDatabase } from '../support/store.ts';
import { testFiles } from '../support/test-files.ts';
import { tamperings } from '../support/tamperings.ts';

const otherKey = readSigningKeys(createSigningKey('log.example.org'))
  .map((key) => verifierKeyText(key))
  .join();
const events = Array.from({ length: 300 }, (_, at) =>
  anEvent({ createdAt: Date.now() - 300 + at, description: `mark ${at}`, executionId: `run ${at % 7}` }),
);

describe('verify', () => {
  const database = eachDatabase();
  const files = testFiles();
  beforeEach(() => seal280(database.db, events));

  const verify = (...args: string[]): Promise<Verified> => runVerify(database.url, args);

  it('says that nothing was changed, with what waits, and from when on that is proven', async () => {
    await recordEvents(database.db, events.slice(280), withLeaves);
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
    for (const [path, content] of log) await files.write(`shown/${path}`, content);
    for (const [where, unit] of [
      [[], 'events'],
      [['--log', files.path('shown')], 'leaves'],
    ] as const) {
      const { stderr } = await runVerify(database.url, where, true);
      const pictures = stderr.split('\r\u001b[K').slice(1);
      expect(pictures.shift()).to.match(new RegExp(`^\\[[#-]{24}\\] \\d+ %  [\\d,]+ ${unit}, [\\d,]+ a second$`));
      expect(pictures.pop()).to.equal('');
    }
  });

  it('reads one snapshot on several connections, while workers store events', async () => {
    const { db } = database;
    const count = async (own: Pick<Database, 'selectFrom'>): Promise<number> =>
      (await own.selectFrom('events').select('id').execute()).length;
    const seen = await inSnapshot(db, async (beside) => {
      const before = await beside(count);
      await recordEvents(db, events.slice(280));
      return [before, await beside(count), await beside(() => beside(count))];
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
    const kept = await files.write('kept', String((await servedBy(db, [])).get('checkpoint')));
    for (const count of [280, 100]) {
      await sql`truncate events, executions, running_executions, log_tiles, log_tails, log_trees, log_checkpoints`.execute(
        db,
      );
      await recordEvents(db, events.slice(10, 10 + count), withLeaves);
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
    await recordEvents(db, [anEvent({ createdAt: days(10) }), anEvent({ createdAt: days(1) })], withLeaves);
    await createStore(db, { ...settings, retentionDays: 0 }).maintain();
    await seal(db);
    expect((await verify()).stdout).to.match(/^Nothing was lost, added or changed: 282 events/);
    await createStore(db, { ...settings, retentionDays: 3 }).maintain();
    const { code, stdout } = await verify();
    expect(stdout).to.match(/: 281 events of acme [^]*\nLeaves of events that expired: 1\.\n/);
    expect(code).to.equal(0);
  });

  it('accuses no execution whose first events expired before the log began', async () => {
    const { db } = database;
    const days = (count: number): number => Date.now() - count * 24 * 3_600_000;
    const settings = { partitionsAhead: 1, overdueAfterHours: 24 };
    await sql`truncate log_trees, log_tiles, log_tails, log_checkpoints`.execute(db);
    await db.deleteFrom('events').execute();
    await db.deleteFrom('executions').execute();
    await recordEvents(db, [anEvent({ createdAt: days(10) }), anEvent({ createdAt: days(2) })]);
    await createStore(db, { ...settings, retentionDays: 0 }).maintain();
    await createStore(db, { ...settings, retentionDays: 3 }).maintain();
    await beginLogs(db);
    await sealExisting(db, { most: 10, pageSize: 10, graceMs: 0 });
    await seal(db);
    expect(await verify()).to.deep.include({ code: 0 });
  });

  it('finds that a whole partition is dropped, if it is told how many days retention keeps', async () => {
    const { db } = database;
    const lost = anEvent({ createdAt: Date.now() - 2 * 24 * 3_600_000, executionId: 'lost' });
    await recordEvents(db, [lost], withLeaves);
    const store = createStore(db, { partitionsAhead: 1, overdueAfterHours: 24, retentionDays: 0 });
    await store.maintain();
    await seal(db);
    expect((await verify('--retention-days', '3')).code).to.equal(0);
    const [oldest] = await listPartitions(db);
    await sql`drop table ${sql.table(oldest?.name ?? '')}`.execute(db);
    await sql`delete from executions where execution_id = 'lost'`.execute(db);
    expect((await verify('--retention-days', '1')).stdout).to.contain('events that expired: 1.');
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
    await recordEvents(db, [anEvent({ createdAt: days(8), executionId: 'expired' })], withLeaves);
    await createStore(db, { ...settings, retentionDays: 0 }).maintain();
    await createStore(db, { ...settings, retentionDays: 3 }).maintain();
    await recordEvents(db, [anEvent({ createdAt: days(10), executionId: 'late' })], withLeaves);
    await createStore(db, { ...settings, retentionDays: 0 }).maintain();
    await seal(db);
    expect((await verify('--retention-days', '3')).stdout).to.match(/^Nothing was lost/);
  });

  it('says how many events got their leaves long after newer ones', async () => {
    const { db } = database;
    await recordEvents(db, [anEvent({ createdAt: Date.now() - 3 * 3_600_000 })], withLeaves);
    await seal(db);
    const { code, stdout } = await verify();
    expect(stdout).to.contain(
      '\nLeaves that came more than an hour after newer ones: 1. They prove their events from then on.\n',
    );
    expect(code).to.equal(0);
  });

  it('cannot prove what lacks a checkpoint although it was accepted more than an hour ago', async () => {
    const { db } = database;
    await recordEvents(db, [anEvent({ createdAt: Date.now() - 3 * 3_600_000 })], withLeaves);
    for (const placed of [false, true]) {
      if (placed) await extendLogs(db, 1_000);
      const { code, stdout } = await verify();
      expect(stdout).to.contain(
        '\nEvents that wait for the next checkpoint: 1.\nOf these, accepted more than an hour ago: 1. Nothing proves them yet',
      );
      expect(code).to.equal(2);
    }
  });

  it('says what it cannot check', async () => {
    const wrongKey = await verify('--public-key', otherKey);
    expect(wrongKey.stderr).to.match(
      /^verify: No --public-key has signed the checkpoint of \d{4}-\d\d-\d\d \d\d:00: add the key that signed it\.\n$/,
    );
    expect(wrongKey).to.deep.include({ code: 2, stdout: '' });
    const noKey = await verify('--public-key', 'x');
    expect(noKey.stderr).to.match(/^verify: --public-key x is no public key of a log\n/);
    const secret = await verify('--public-key', createSigningKey('log.example.org'));
    expect(secret.stderr).to.match(/^verify: --public-key has a private key: give the public one\n/);
    expect(secret.stderr).to.not.contain('PRIVATE+KEY');
    const noCheckpoint = await files.write('kept', 'x');
    expect((await verify('--checkpoint', noCheckpoint)).stderr).to.equal(
      `verify: ${noCheckpoint} is no checkpoint of this log and key: this is no signed note\n`,
    );
    const away = `http://localhost:${await freePort()}/v1/log`;
    const token = await files.write('token', 'secret');
    expect((await verify('--log', away, '--read-token-file', token)).stderr).to.match(
      new RegExp(`^verify: ${away} cannot be read: .*ECONNREFUSED.*\\.\\n$`),
    );
    await sql`update log_trees set complete_at = null`.execute(database.db);
    await recordEvents(database.db, events.slice(280));
    const early = await verify();
    expect(early.stdout).to.match(/^Nothing was lost, added or changed: 280 events of acme/);
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
});
