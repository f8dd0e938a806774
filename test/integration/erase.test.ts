import { expect } from 'chai';
import { sql } from 'kysely';
import { joinIds, leafOfErasure } from '../../internal/ledger/erasure.ts';
import { textsDigestOf } from '../../internal/ledger/event-digest.ts';
import { leafOf, timeOfId } from '../../internal/ledger/leaf.ts';
import { macKeyText, macOf } from '../../internal/ledger/mac.ts';
import { exportFormats } from '../../internal/record/formats/formats.ts';
import { storedJson } from '../../internal/ledger/stored-json.ts';
import { provenEventOf } from '../../internal/record/stored-event.ts';
import { sealOlder } from '../../internal/store/ledger/seal-older.ts';
import { recordEvents } from '../../internal/store/record-events.ts';
import { runAdmin, type AdminRun } from '../support/admin.ts';
import { anEvent } from '../support/events.ts';
import { freePort } from '../support/free-port.ts';
import { logKey, macKey, publicLogKey, seal, servedBy, withLeaves } from '../support/sealed-ledger.ts';
import { eachDatabase, migratedDatabase } from '../support/store.ts';
import { testFiles } from '../support/test-files.ts';
import { place } from '../support/two-databases.ts';

const events = Array.from({ length: 280 }, (_, at) =>
  anEvent({ createdAt: Date.now() - 300 + at, description: `mark ${at}`, executionId: `run ${at % 7}` }),
);
const first = events[100]?.id ?? '';
const erased =
  'Erased. It may also be in the backups and the server log of Postgres, in the append-only file of Redis until its ' +
  'next rewrite, in the archive (export --recheck; objects under lock stay), and where channels sent it.\n';
const changed = 'Something was lost, added or changed: 1 finding.\n';

describe('erase', () => {
  const database = eachDatabase();
  const files = testFiles();
  let settings: NodeJS.ProcessEnv = {};
  beforeEach(async () => {
    settings = {};
    await recordEvents(database.db, events, withLeaves);
    await seal(database.db);
  });

  function run(command: 'erase' | 'verify', args: string[]): Promise<AdminRun> {
    const organization = args.includes('--organization') ? [] : ['--organization', 'acme'];
    const tuning = 'ERASE_BATCH_EVENTS=30';
    const env = { DATABASE_URL: database.url, LEDGER_MAC_KEY: macKeyText(macKey), TUNING: tuning, ...settings };
    return runAdmin([command, ...organization, ...args], { env });
  }
  const erase = (...args: string[]) => run('erase', ['--by', 'ana', '--reason', 'ticket 7', ...args]);
  const verify = (...args: string[]) => run('verify', ['--public-key', publicLogKey, ...args]);

  const execution = ['--automation', events[0]?.automationId.toUpperCase() ?? '', '--execution', 'run 3'];

  it('removes what matches, and verify then says who erased what and why', async () => {
    const { db } = database;
    const counted = await erase(...execution);
    expect(counted).to.deep.equal({
      code: 0,
      stdout: '',
      stderr: 'Would erase 40 events, 1 execution and 0 dead letters. Add --yes to erase them.\n',
    });
    expect(await erase(...execution, '--yes')).to.deep.include({
      code: 0,
      stderr: `Erasing 40 events, 1 execution and 0 dead letters.\n${erased}`,
    });
    expect((await erase('--text', 'MARK 5')).stderr).to.equal(
      'Would erase the texts of 9 events, and 0 dead letters. Add --yes to erase them.\n',
    );
    expect((await erase('--text', 'MARK 5', '--yes')).stderr).to.equal(
      `Erasing the texts of 9 events, and 0 dead letters.\n${erased}`,
    );
    const left = await db.selectFrom('executions').select('execution_id').where('organization', '=', 'acme').execute();
    expect(left.map(({ execution_id }) => execution_id).sort()).to.deep.equal([
      'run 0',
      'run 1',
      'run 2',
      'run 4',
      'run 5',
      'run 6',
    ]);
    const texts = await sql`select from events where description ilike '%mark 5%'`.execute(db);
    expect(texts.rows).to.have.lengthOf(0);

    for (const waiting of [true, false]) {
      if (!waiting) await seal(db);
      const { code, stdout } = await verify();
      expect(stdout).to.match(/^Nothing was lost, added or changed: 240 events of acme/);
      expect(stdout).to.match(/Events whose data was erased: 49\.\n- 30 events, by ana, \S+Z: ticket 7\n/);
      expect(code).to.equal(0);
    }
    const whole = await erase('--all', '--yes');
    expect(whole.stderr).to.equal(`Erasing 240 events, 6 executions and 0 dead letters.\n${erased}`);
    expect((await verify()).stdout).to.match(/^Nothing was lost, added or changed: 0 events of acme/);
    expect(await db.selectFrom('executions').selectAll().where('organization', '=', 'acme').execute()).to.deep.equal(
      [],
    );
  });

  it('reports when nothing matches', async () => {
    const none = 'acme has no such events, executions or dead letters.\n';
    const noText = 'acme has no events or dead letters whose texts contain this text.\n';
    for (const yes of [[], ['--yes']]) {
      const ofOther = ['--automation', first, ...yes];
      expect(await erase(...ofOther)).to.deep.equal({ code: 0, stdout: '', stderr: none });
      expect(await erase('--text', 'nowhere', ...yes)).to.deep.equal({ code: 0, stdout: '', stderr: noText });
    }
  });

  it('takes executions whose events retention has dropped, all or some', async () => {
    const { db } = database;
    await sql`delete from events where execution_id = 'run 3' or id = ${events[0]?.id ?? ''}`.execute(db);
    expect((await erase(...execution, '--yes')).code).to.equal(0);
    const ids = db.selectFrom('executions').select('execution_id').where('organization', '=', 'acme');
    expect((await ids.execute()).map(({ execution_id }) => execution_id))
      .to.have.lengthOf(6)
      .and.not.include('run 3');
    expect((await erase('--automation', events[0]?.automationId ?? '', '--yes')).code).to.equal(0);
    expect(await ids.execute()).to.deep.equal([]);
  });

  it('hides no other change from verify, nor a changed or missing record of its own', async () => {
    const { db } = database;
    await erase('--text', 'mark 50', '--yes');
    const touched = events[50]?.id ?? '';
    await sql`update events set description = 'x' where id = ${touched}`.execute(db);
    expect((await verify()).stdout).to.equal(
      `${changed}Event ${touched} has texts that were erased: they were put back.\n`,
    );
    await sql`update events set description = '' where id = ${touched}`.execute(db);
    await sql`update erasures set reason = 'ticket 8'`.execute(db);
    expect((await verify()).stdout).to.match(/\nThe record of erasure \S+ by ana is not the one that the log has\.\n/);
    await sql`update erasures set id = ${first}`.execute(db);
    expect((await verify()).stdout).to.match(/\nThe record of erasure \S+ by ana is not the one/);
    await sql`delete from erasures`.execute(db);
    const { code, stdout } = await verify();
    expect(stdout).to.match(/\nErasure \S+ is in the log, and its record is missing\.\n/);
    expect(code).to.equal(1);
  });

  it('is asked for once more if a killed worker stores events again, which accuses nobody', async () => {
    const { db } = database;
    const erases = async (): Promise<void> => {
      expect((await erase('--all', '--yes')).code).to.equal(0);
      await seal(db);
    };
    await erases();
    await recordEvents(db, events.slice(0, 1), withLeaves);
    await seal(db);
    const again = await verify();
    expect(again.stdout).to.match(
      /\nEvent \S+ came again, and was stored again, after erasure \S+: erase it once more\.\n/,
    );
    expect(again.code).to.equal(2);
    await sql`update events set description = 'x'`.execute(db);
    expect((await verify()).stdout).to.match(/\nEvent \S+ has 2 leaves in the log\.\n/);
    await erases();
    expect((await verify()).code).to.equal(0);
  });

  it('leaves parts of events that verify checks for changes and removals', async () => {
    const { db } = database;
    await erase('--text', 'mark 50', '--yes');
    const left = events[50]?.id ?? '';
    await sql`update events set kind = 'WARNING' where id = ${left}`.execute(db);
    expect((await verify()).stdout).to.contain(`Event ${left} is not the one that the log has: it was changed.\n`);
    await sql`delete from events where id = ${left}`.execute(db);
    expect((await verify()).stdout).to.contain(`Event ${left} is in the log, and not in the record: it was removed.\n`);
  });

  it('is found forged if its record has another time than its id, or an earlier one than the log', async () => {
    const { db } = database;
    const forge = async (id: string, erased_at: Date): Promise<string> => {
      const erasure = { id, organization: 'acme', erased_at, erased_by: 'eve', reason: 'x', automation_id: null };
      const record = { ...erasure, scope: 'execution' as const, event_ids: joinIds([first]) };
      await db.insertInto('erasures').values(record).execute();
      const leaves = leafOfErasure(record);
      // By somebody who has the key.
      const mac = macOf(macKey, 'acme', leaves);
      await db.insertInto('log_segments').values({ organization: 'acme', leaves, mac }).execute();
      await sql`delete from events where id = ${first}`.execute(db);
      await seal(db);
      const { stdout } = await verify();
      await sql`truncate erasures`.execute(db);
      return stdout;
    };
    const longAgo = new Date(Date.now() - 48 * 3_600_000);
    const [now, before] = [anEvent({ createdAt: Date.now() }).id, anEvent({ createdAt: longAgo.getTime() }).id];
    expect(await forge(now, longAgo)).to.contain(`The record of erasure ${now} by eve has another time than its id.\n`);
    expect(await forge(before, longAgo)).to.contain(
      `Erasure ${before} was recorded later than it says: newer events are before it.\n`,
    );
  });

  it('excuses nothing if somebody without the key recorded it, also with a second leaf', async () => {
    const { db } = database;
    const id = anEvent({ createdAt: Date.now() }).id;
    const erasure = { id, organization: 'acme', erased_at: new Date(timeOfId(id)), erased_by: 'eve', reason: 'x' };
    const record = { ...erasure, automation_id: null, scope: 'text' as const, event_ids: joinIds([first]) };
    await db.insertInto('erasures').values(record).execute();
    await sql`update events set kind = 'EVENT', description = 'Payment approved' where id = ${first}`.execute(db);
    const row = await db.selectFrom('events').selectAll().where('id', '=', first).executeTakeFirstOrThrow();
    for (const leaf of [leafOf(row), leafOfErasure(record)]) {
      await db.insertInto('log_segments').values({ organization: 'acme', leaves: leaf, mac: null }).execute();
    }
    await seal(db);
    const { code, stdout } = await verify();
    expect(stdout).to.contain(`Event ${first} `).and.to.contain(`${id} by eve`);
    expect(code).to.equal(1);
  });

  it('keeps the proof of kind, times and ids, and verify finds texts that are put back', async () => {
    const { db } = database;
    const before = await db.selectFrom('events').selectAll().where('id', '=', first).executeTakeFirstOrThrow();
    await erase('--text', 'mark 100', '--yes');
    await seal(db);
    const left = await db.selectFrom('events').selectAll().where('id', '=', first).executeTakeFirstOrThrow();
    expect(left).to.include({ description: '', salt: null });
    expect(leafOf(left)).to.deep.equal(leafOf(before));
    // A guess needs the salt, which is nowhere.
    expect(left.texts_digest).to.not.deep.equal(textsDigestOf(storedJson(before).texts, null));
    expect((await verify()).code).to.equal(0);
    const back = { description: before.description, salt: before.salt, texts_digest: null };
    for (const texts of [back, { ...back, salt: null }, { description: before.description }]) {
      const { description, salt, texts_digest } = { ...left, ...texts };
      await db.updateTable('events').set({ description, salt, texts_digest }).where('id', '=', first).execute();
      const { code, stdout } = await verify();
      expect(stdout).to.contain(`Event ${first} `);
      expect(code).to.equal(1);
    }
  });

  it('leaves nothing from which texts stored without a log could be guessed', async () => {
    const { db } = database;
    const older = anEvent({ organization: 'initech', createdAt: Date.now() - 1, description: 'for Jane' });
    await recordEvents(db, [older]);
    const row = () => db.selectFrom('events').selectAll().where('id', '=', older.id).executeTakeFirstOrThrow();
    const { texts } = storedJson(await row());
    await run('erase', ['--organization', 'initech', '--by', 'ana', '--reason', 'x', '--text', 'jane', '--yes']);
    const left = await row();
    expect(left).to.include({ description: '', salt: null });
    expect(left.texts_digest).to.have.lengthOf(32).and.not.deep.equal(textsDigestOf(texts, null));
    await sealOlder(db, macKey, { organization: 'initech', by: 'ana', reason: 'x', most: 10, pageSize: 10 });
    await seal(db);
    const { code, stdout } = await run('verify', ['--organization', 'initech', '--public-key', publicLogKey]);
    expect(stdout).to.match(/^Nothing was lost/);
    expect(code).to.equal(0);
  });

  it('needs the key of an organization with a log, and no key of one without', async () => {
    settings = { LEDGER_MAC_KEY: '' };
    const refused = 'erase: acme has a log: set LEDGER_MAC_KEY, so that the log knows the erasure\n';
    expect(await erase('--all', '--yes')).to.deep.equal({ code: 2, stdout: '', stderr: refused });
    expect((await erase('--all')).code).to.equal(0);
    await recordEvents(database.db, [anEvent({ organization: 'initech', createdAt: Date.now() - 1 })]);
    const other = ['--organization', 'initech', '--by', 'ana', '--reason', 'x', '--all', '--yes'];
    expect((await run('erase', other)).code).to.equal(0);
    settings = { LEDGER_MAC_KEY: '', LEDGER_KEY: logKey };
    expect((await erase('--all', '--yes')).code).to.equal(0);
  });

  it('gets its leaf even if the log begins later', async () => {
    const { db } = database;
    await recordEvents(db, [anEvent({ organization: 'initech' }), anEvent({ organization: 'initech' })]);
    await sql`truncate log_trees, log_tiles, log_tails, log_checkpoints, log_segments`.execute(db);
    await run('erase', ['--organization', 'initech', '--by', 'ana', '--reason', 'ticket 7', '--all', '--yes']);
    await seal(db);
    const { code, stdout } = await run('verify', ['--organization', 'initech', '--public-key', publicLogKey]);
    expect(stdout).to.match(/^Nothing was lost[^]*\nEvents whose data was erased: \d/);
    expect(code).to.equal(0);
  });

  it('prints the record that verify needs to check an export', async () => {
    const { db } = database;
    const { stdout: records } = await erase(...execution, '--yes');
    await seal(db);
    for (const [path, content] of await servedBy(db, [])) await files.write(`erased/${path}`, content);
    const rows = await db.selectFrom('events').selectAll().where('organization', '=', 'acme').orderBy('id').execute();
    const lines = rows.map((row) => String(exportFormats.ndjson.begin(false).add([provenEventOf(row)])));
    const args = ['--log', files.path('erased'), '--export', await files.write('export', lines.join(''))];
    const without = await verify(...args);
    expect(without.stdout).to.contain('The log has 2 erasures: give all that `erase --list` prints with --erasures.\n');
    expect(without.code).to.equal(2);
    const [half = ''] = records.split('\n');
    expect((await verify(...args, '--erasures', await files.write('half', half))).stdout).to.contain(
      'The log has 2 erasures, and --erasures lacks 1 of them: give all that `erase --list` prints with --erasures.\n',
    );
    const { code, stdout } = await verify(...args, '--erasures', await files.write('erasures', records));
    expect(stdout).to.match(/^Not everything could be checked\.\n[^]*\nEvents whose data was erased: 40\b/);
    expect(code).to.equal(2);
  });

  it('prints the records of all erasures again', async () => {
    await recordEvents(database.db, [anEvent({ organization: 'globex', createdAt: Date.now() - 1 })]);
    const printed = [await erase(...execution, '--yes'), await erase('--text', 'mark 5', '--yes')];
    const ofGlobex = await erase('--organization', 'globex', '--all', '--yes');
    expect(ofGlobex.stdout).to.contain('"organization":"globex"');
    expect(await run('erase', ['--list'])).to.deep.equal({
      code: 0,
      stdout: printed.map(({ stdout }) => stdout).join(''),
      stderr: '',
    });
    expect(await run('erase', ['--organization', 'initech', '--list'])).to.deep.equal({
      code: 0,
      stdout: '',
      stderr: 'No erasure of initech is recorded.\n',
    });
  });

  it('works in the database that has the organization, and refuses one that it cannot reach', async () => {
    const { db } = database;
    const refused = {
      code: 1,
      stdout: '',
      stderr: 'erase: acme is in the database eu, which DATABASE_URLS does not name\n',
    };
    await place(db, 'acme', 'eu');
    expect(await erase('--all', '--yes')).to.deep.equal(refused);
    await using eu = await migratedDatabase();
    settings = { DATABASE_URLS: `eu=${eu.url}` };
    const clean = 'runledger-admin move --organization acme --clean';
    const left = `the database first has events of acme from before a move: run \`${clean}\` first`;
    expect(await erase(...execution)).to.deep.equal({ ...refused, stderr: `erase: ${left}\n` });
    await sql`update organization_databases set database = 'first'`.execute(db);
    expect((await erase(...execution)).stderr).to.match(/^Would erase 40 events/);
    settings = { DATABASE_URLS: `eu=postgres://postgres@127.0.0.1:${await freePort()}/eu` };
    const silent = 'the database eu does not say whether a move has left events of acme';
    expect((await erase('--all', '--yes')).stderr).to.match(
      new RegExp(`^erase: ${silent}\nCause: connect ECONNREFUSED`),
    );
    await db.insertInto('moved_organizations').values({ organization: 'acme', target: 'eu', closed: true }).execute();
    expect(await erase('--all', '--yes')).to.deep.equal({
      ...refused,
      stderr: 'erase: acme moves to the database eu: wait for the end of the move\n',
    });
  });

  it('ends with 1 after an error', async () => {
    const { db } = database;
    await sql`drop table alerts cascade`.execute(db);
    const { code, stderr } = await erase('--all', '--yes');
    expect(stderr)
      .to.contain('\nerase: relation "alerts" does not exist\n')
      .and.not.contain('--yes')
      .and.not.contain('Erased.');
    expect(code).to.equal(1);
  });

  it('says which arguments are wrong', async () => {
    for (const [args, message] of [
      [[], 'one of --all, --automation and --text is required'],
      [['--all', '--text', 'x'], 'only one of --all, --automation and --text may be given'],
      [['--text', ' '], '--text must not be empty'],
      [['--automation', 'x'], '--automation must be a UUID'],
      [['--execution', 'x'], '--execution needs --automation'],
      [['--all', '--execution', 'x'], '--execution needs --automation'],
    ] as const) {
      const { code, stderr } = await erase(...args);
      expect(stderr).to.contain(`erase: ${message}\n`);
      expect(code).to.equal(2);
    }
    for (const [args, message] of [
      [['--all'], '--organization is required'],
      [['--all', '--organization', ''], '--organization must not be empty'],
      [['--all', '--organization', 'acme', '--by', ' ', '--reason', 'x'], '--by must not be empty'],
      [['--all', '--organization', 'acme', '--by', 'x', '--reason', ''], '--reason must not be empty'],
      [['--list', '--organization', 'acme', '--by', 'x'], '--list takes --organization only'],
      [['--list', '--organization', 'acme', '--yes'], '--list takes --organization only'],
      [['--all', '--organization', 'acme', '--by', 'Ana'], '--by and --reason are required'],
    ] as const) {
      const { code, stderr } = await runAdmin(['erase', ...args]);
      expect(stderr).to.contain(`erase: ${message}\n`);
      expect(code).to.equal(2);
    }
  });
});
