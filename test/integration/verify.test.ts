import { readFile, rm, stat } from 'node:fs/promises';
import { expect } from 'chai';
import { sql } from 'kysely';
import { exportDays } from '../../internal/record/archive/export-days.ts';
import { folderOfDay } from '../../internal/record/archive/manifest.ts';
import { ManifestActs } from '../../internal/record/archive/manifest-acts.ts';
import { openObjects } from '../../internal/record/archive/open-objects.ts';
import { getCheckpoint } from '../../internal/record/ledger.ts';
import { createQueries } from '../../internal/record/queries.ts';
import { inSnapshot } from '../../internal/record/audit/snapshot.ts';
import { createSigningKey, readSigningKeys, readWitnessKey, verifierKeyText } from '../../internal/ledger/keys.ts';
import { HttpWitness } from '../../internal/ledger/witness/http-witness.ts';
import { addCosignature, listUncosigned } from '../../internal/store/ledger/cosignatures.ts';
import type { Database } from '../../internal/store/database.ts';
import { extendLedgers } from '../../internal/store/ledger/extend-ledgers.ts';
import { dayOf } from '../../internal/store/partitions/days.ts';
import { listPartitions } from '../../internal/store/partitions/partitions.ts';
import { sealOlder } from '../../internal/store/ledger/seal-older.ts';
import { createStore } from '../../internal/store/store.ts';
import { recordEvents } from '../../internal/store/record-events.ts';
import { anEvent } from '../support/events.ts';
import { failureOf } from '../support/failure.ts';
import { freePort } from '../support/free-port.ts';
import { PgBouncer } from '../support/pgbouncer.ts';
import { runAdmin, type AdminRun } from '../support/admin.ts';
import { findingsOf, runVerify, seal280 } from '../support/run-verify.ts';
import { macKey, publicLogKey, seal, servedBy, withLeaves } from '../support/sealed-ledger.ts';
import { exportArguments, writeServed } from '../support/served-export.ts';
import { deleteExecutions, eachDatabase, migratedDatabase } from '../support/store.ts';
import { testFiles } from '../support/test-files.ts';
import { place } from '../support/two-databases.ts';
import { modes, patternOf, tamperings, type Mode } from '../support/tamperings.ts';
import { startWitness, type WitnessServer } from '../support/witness-server.ts';

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

  const verify = (...args: string[]): Promise<AdminRun> => runVerify(database.url, args);

  it('says that nothing was changed, what still waits, and since when that is proven', async () => {
    await recordEvents(database.db, events.slice(280), withLeaves);
    expect(await verify()).to.deep.equal({
      code: 0,
      stdout:
        'Nothing was lost, added or changed: 300 events of acme and 1 checkpoint match the log, which has 280 leaves.\n' +
        'Events that wait for the next checkpoint: 20.\n' +
        `The proof holds since ${new Date(events[0]?.createdAt ?? 0).toISOString()}: no leaf is of an older event.\n`,
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

  it('keeps retention waiting: a day that it detached would look removed', async () => {
    const { db } = database;
    const createdAt = Date.now() - 10 * 24 * 3_600_000;
    await recordEvents(db, [anEvent({ createdAt })], withLeaves);
    await createStore(db, { partitionsAhead: 1, overdueAfterHours: 24, retentionDays: 0 }).maintain();
    const [oldest] = await listPartitions(db);
    const detach = (): Promise<unknown> =>
      db.transaction().execute(async (own) => {
        await sql`set local lock_timeout = '50ms'`.execute(own);
        await sql`alter table events detach partition ${sql.table(oldest?.name ?? '')}`.execute(own);
      });
    expect(await inSnapshot(db, () => failureOf(detach()))).to.include({ code: '55P03' });
  });

  const argumentsOf: Record<Mode, () => Promise<string[]>> = {
    live: async () => [],
    kept: async () => ['--checkpoint', files.path('kept')],
    state: async () => ['--state', files.path('state')],
    export: () => exportArguments(database.db, files, events[0]?.createdAt ?? 0),
    exportState: async () => [...(await argumentsOf.export()), ...(await argumentsOf.state())],
    witness: async () => ['--witness', witness.publicKey],
  };
  let witness: WitnessServer;
  before(async () => {
    witness = await startWitness();
  });
  after(() => witness[Symbol.asyncDispose]());
  /** Asks the witness to cosign the newest checkpoint of acme, as a worker does. */
  const cosign = async (): Promise<void> => {
    const { db } = database;
    const asked = new HttpWitness(witness.url, readWitnessKey(witness.publicKey));
    for (const log of await listUncosigned(db, [witness.name], 'acme')) {
      const line = await asked.cosign(log).catch(() => undefined);
      if (line !== undefined) await addCosignature(db, log, witness.name, line);
    }
  };

  for (const [what, { tamper, found }] of Object.entries(tamperings(events))) {
    it(`finds who ${what}`, async () => {
      await rm(files.path('state'), { force: true });
      const before = await verify('--state', files.path('state'));
      expect(before.code, before.stdout).to.equal(0);
      await files.write('kept', await readFile(files.path('state')));
      witness.forget();
      if (found.witness !== undefined) await cosign();
      await tamper(database.db);
      if (found.witness !== undefined) await cosign();
      for (const mode of modes.filter((one) => found[one] !== undefined)) {
        const verified = await verify(...(await argumentsOf[mode]()));
        const findings = findingsOf(verified);
        for (const sentence of found[mode] ?? []) expect(findings, mode).to.match(patternOf(sentence));
      }
    });
  }

  it('says that a schema before that of the record shows it other tables', async () => {
    const { db, url } = database;
    await sql`create schema shadow`.execute(db);
    await sql`create table shadow.events as table events`.execute(db);
    const own = new URL(url);
    own.searchParams.set('options', '-c search_path=shadow,public');
    expect((await runVerify(own.href, [])).stdout).to.contain(
      'The database has tables of these names in the schemas public, shadow; only those of public were checked.\n',
    );
  });

  it('keeps the newest checkpoint that it has verified, for this user only', async () => {
    const { db } = database;
    const state = files.path('newest');
    expect((await verify('--state', state)).code).to.equal(0);
    expect((await stat(state)).mode & 0o777).to.equal(0o600);
    const first = await readFile(state, 'utf8');
    expect(first).to.match(/^log\.example\.org\/acme\n280\n/);
    await recordEvents(db, events.slice(280), withLeaves);
    await seal(db);
    expect((await verify('--state', state)).code).to.equal(0);
    const second = await readFile(state, 'utf8');
    expect(second).to.match(/^log\.example\.org\/acme\n300\n/);
    // An older checkpoint of a log that is whole does not take its place.
    const put = (note: string): Promise<unknown> =>
      sql`update log_checkpoints set note = given.note, published_note = given.note,
          size = split_part(given.note, E'\\n', 2)::bigint, published_size = split_part(given.note, E'\\n', 2)::bigint,
          root = decode(split_part(given.note, E'\\n', 3), 'base64')
        from (select ${note}::text as note) as given where organization = 'acme'`.execute(db);
    await put(first);
    expect((await verify('--state', state)).code).to.equal(0);
    expect(await readFile(state, 'utf8')).to.equal(second);
    await sql`update events set description = 'x' where id = ${events[0]?.id}`.execute(db);
    await put(second);
    await files.write('newest', first);
    expect((await verify('--state', state)).code).to.equal(1);
    expect(await readFile(state, 'utf8')).to.equal(first);
  });

  it('counts the leaves of events that retention deleted', async () => {
    const { db } = database;
    const days = (count: number): number => Date.now() - count * 24 * 3_600_000;
    const settings = { partitionsAhead: 1, overdueAfterHours: 24 };
    await recordEvents(db, [anEvent({ createdAt: days(10) }), anEvent({ createdAt: days(1) })], withLeaves);
    await createStore(db, { ...settings, retentionDays: 0 }).maintain();
    await seal(db);
    expect((await verify()).stdout).to.match(/^Nothing was lost, added or changed: 282 events/);
    await createStore(db, { ...settings, retentionDays: 3, macKey }).maintain();
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
    await deleteExecutions(db);
    await recordEvents(db, [anEvent({ createdAt: days(10) }), anEvent({ createdAt: days(2) })]);
    await createStore(db, { ...settings, retentionDays: 0 }).maintain();
    await createStore(db, { ...settings, retentionDays: 3 }).maintain();
    await sealOlder(db, macKey, { organization: 'acme', by: 'ana', reason: 'ticket 7', most: 10, pageSize: 10 });
    await seal(db);
    expect(await verify()).to.deep.include({ code: 0 });
  });

  it('finds that a whole partition is dropped, and that retention dropped more than it should', async () => {
    const { db } = database;
    const days = (count: number): number => Date.now() - count * 24 * 3_600_000;
    const lost = [1, 2].map((count) => anEvent({ createdAt: days(count), executionId: 'lost' }));
    await recordEvents(db, lost, withLeaves);
    const settings = { partitionsAhead: 1, overdueAfterHours: 24, macKey };
    await createStore(db, { ...settings, retentionDays: 0 }).maintain();
    await seal(db);
    expect((await verify('--retention-days', '3')).code).to.equal(0);
    await createStore(db, { ...settings, retentionDays: 1 }).maintain();
    expect((await verify()).stdout).to.match(/^Nothing was lost[^]*events that expired: 1\./);
    expect(findingsOf(await verify('--retention-days', '3'))).to.contain(
      `Event ${lost[1]?.id} is in the log, and not in the record: it was removed.\n`,
    );
    const [oldest] = await listPartitions(db);
    await sql`drop table ${sql.table(oldest?.name ?? '')}`.execute(db);
    for (const table of ['executions', 'running_executions'])
      await sql`delete from ${sql.table(table)} where execution_id = 'lost'`.execute(db);
    expect(await verify('--retention-days', '1')).to.deep.equal({
      code: 1,
      stdout: `Something was lost, added or changed: 1 finding.\nEvent ${lost[0]?.id} is in the log, and not in the record: it was removed.\n`,
      stderr: '',
    });
  });

  it('accuses nobody of a late event, whether its day has expired or is in the archive only', async () => {
    const { db } = database;
    const days = (count: number): number => Date.now() - count * 24 * 3_600_000;
    const settings = { partitionsAhead: 1, overdueAfterHours: 24, macKey };
    const store = (retentionDays: number) => createStore(db, { ...settings, retentionDays });
    const acts = new ManifestActs(db, macKey);
    const objects = await openObjects(files.path('days'));
    const checkpointOf = async (id: string) => (await getCheckpoint(db, id))?.note;
    const archive = async (): Promise<void> => {
      const run = { db, record: createQueries(db), objects, format: 'ndjson', acts, checkpointOf } as const;
      await exportDays({ ...run, from: 0, to: days(3), recheckBefore: Infinity });
      await seal(db);
    };
    const expired = [6, 8, 9].flatMap((count) => [0, 1].map((at) => anEvent({ createdAt: days(count) + at })));
    await recordEvents(db, expired, withLeaves);
    await store(0).maintain();
    await seal(db);
    await archive();
    await store(3).maintain();
    // A run that has begun before, and is still in the queue when its day is dropped.
    await recordEvents(db, [anEvent({ createdAt: days(8) + 2 }), anEvent({ createdAt: days(10) })], withLeaves);
    for (const retentionDays of [0, 3]) {
      await seal(db);
      await archive();
      const log = ['--log', await writeServed(db, files, 'late')];
      const { code, stdout } = await verify('--archive', files.path('days'));
      expect(stdout).to.match(/^Nothing was lost/);
      expect(code).to.equal(0);
      const folder = folderOfDay({ organization: 'acme', day: dayOf(days(8)) });
      for (const object of ['events', 'events-2']) {
        const file = files.path(`days/${folder}${object}.ndjson`);
        expect((await verify(...log, '--export', file)).stdout, object).to.match(/^Nothing was lost/);
      }
      await store(retentionDays === 0 ? 3 : 0).maintain();
    }
    const folder = files.path(`days/${folderOfDay({ organization: 'acme', day: dayOf(days(8)) })}`);
    for (const name of ['events.ndjson', 'events.ndjson.manifest.json']) await rm(`${folder}${name}`);
    expect(findingsOf(await verify('--archive', files.path('days')))).to.match(
      /^The archive lacks \S+ which the log has: it was removed\.\n$/,
    );
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
      if (placed) await extendLedgers(db, [macKey], 1_000);
      const { code, stdout } = await verify();
      expect(stdout).to.match(
        /^Not everything could be checked\.\nEvents that were accepted more than an hour ago, and that no checkpoint covers: 1\. Nothing proves them yet: check again in a minute\.\nWhat was checked was not changed: 281 events/,
      );
      expect(stdout).to.contain('\nEvents that wait for the next checkpoint: 1.\n');
      expect(code).to.equal(2);
    }
  });

  it('counts events from before the log, until an act seals them', async () => {
    const { db } = database;
    const older = [1, 2].map((hours) => anEvent({ createdAt: Date.now() - hours * 3_600_000 }));
    await recordEvents(db, older);
    const early = await verify();
    expect(early.stdout).to.contain(
      'Events from before the first leaf of the log that have none, so that nothing proves them: 2. ' +
        `The first is ${older.at(-1)?.id}. An operator gives them leaves with \`seal\`.\n`,
    );
    expect(early.code).to.equal(2);
    await sealOlder(db, macKey, { organization: 'acme', by: 'ana', reason: 'ticket 7', most: 1_000, pageSize: 100 });
    await seal(db);
    const { code, stdout } = await verify();
    expect(stdout).to.match(
      /\nIn the log: 2 older events got their leaves, which prove them from then on, by ana, \S+Z: ticket 7\.\n/,
    );
    expect(code).to.equal(0);
    await recordEvents(db, [anEvent({ createdAt: Date.now() - 3 * 3_600_000 })]);
    expect(findingsOf(await verify())).to.match(/^Event \S+ is in the record, and not in the log: it was added\.\n$/);
  });

  it('names the right that a user lacks, and checks the rest', async () => {
    const { db, url } = database;
    await sql`update events set description = 'x' where id = ${events[0]?.id}`.execute(db);
    const name = `auditor_${process.pid}`;
    await sql`create role ${sql.ref(name)} login`.execute(db);
    try {
      await sql`grant select on all tables in schema public to ${sql.ref(name)}`.execute(db);
      await sql`revoke select on erasures from ${sql.ref(name)}`.execute(db);
      const own = new URL(url);
      own.username = name;
      const verified = await runVerify(own.href, []);
      expect(findingsOf(verified)).to.match(
        /is not the one that the log has: it was changed\.\nThe erasures cannot be checked: this user may not read erasures, run `grant select on erasures to …`\.\n$/,
      );
    } finally {
      await sql`drop owned by ${sql.ref(name)}`.execute(db);
      await sql`drop role ${sql.ref(name)}`.execute(db);
    }
  });

  it('finds the database that has the organization', async () => {
    await using first = await migratedDatabase();
    await place(first.db, 'acme', 'eu');
    const args = ['verify', '--public-key', publicLogKey, '--organization', 'acme'];
    const check = async (urls: Record<string, string>): Promise<string> => {
      const { stdout, stderr } = await runAdmin(args, { env: { DATABASE_URL: first.url, ...urls } });
      return stdout + stderr;
    };
    const gone = `us=postgres://postgres@127.0.0.1:${await freePort()}/us`;
    const urls = { DATABASE_URLS: `eu=${database.url} ${gone}` };
    expect(await check(urls), 'us is not asked').to.match(/^Nothing was lost[^]*: 280 events of acme/);
    expect(await check({})).to.contain('acme is in the database eu, which DATABASE_URLS does not name\n');
  });

  it('checks through a pooler', async () => {
    const pooler = await PgBouncer.start(database.url);
    try {
      expect(await runVerify(pooler.url, [])).to.deep.include({ code: 0, stderr: '' });
    } finally {
      await pooler.stop();
    }
  });

  it('says what it cannot check', async () => {
    const wrongKey = await verify('--public-key', otherKey);
    expect(wrongKey.stdout).to.match(
      /^Not everything could be checked\.\nNo --public-key has signed the checkpoint of \d{4}-\d\d-\d\d \d\d:00: add the key that signed it\.\n/,
    );
    expect(wrongKey.code).to.equal(2);
    const noKey = await verify('--public-key', 'x');
    expect(noKey.stderr).to.match(/^verify: --public-key x is no public key of a log\n/);
    const secret = await verify('--public-key', createSigningKey('log.example.org'));
    expect(secret.stderr).to.match(/^verify: --public-key has a private key: give the public one\n/);
    expect(secret.stderr).to.not.contain('PRIVATE+KEY');
    const noCheckpoint = await files.write('kept', 'x');
    expect(await verify('--checkpoint', noCheckpoint)).to.deep.equal({
      code: 2,
      stdout: 'Nothing could be checked.\n',
      stderr: `verify: ${noCheckpoint} is no checkpoint of this log and key: this is no signed note\n`,
    });
    const away = `http://localhost:${await freePort()}/v1/log`;
    const token = await files.write('token', 'secret');
    expect((await verify('--log', away, '--read-token-file', token)).stderr).to.match(
      new RegExp(`^verify: ${away} cannot be read: .*ECONNREFUSED.*\\.\\n$`),
    );
    expect((await verify('--organization', 'initech')).stderr).to.equal('verify: There is no checkpoint of initech.\n');
    expect((await verify('--exports', 'x')).stderr).to.match(
      /^verify: Unknown option '--exports'[^]*\nUsage: runledger-admin verify --organization ID/,
    );
  });
});
