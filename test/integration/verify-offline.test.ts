import { createHash } from 'node:crypto';
import { readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import { ManifestActs } from '../../internal/record/archive/manifest-acts.ts';
import { exportDay } from '../../internal/record/archive/export-day.ts';
import { openObjects } from '../../internal/record/archive/open-objects.ts';
import { createQueries } from '../../internal/record/queries.ts';
import { dayOf } from '../../internal/store/partitions/days.ts';
import { exportFormats, formatNames } from '../../internal/record/formats/formats.ts';
import { joinIds, writeErasure } from '../../internal/ledger/erasure.ts';
import { provenEventOf } from '../../internal/record/stored-event.ts';
import { anEvent } from '../support/events.ts';
import { runAdmin, type AdminRun } from '../support/admin.ts';
import { findingsOf, runVerify, seal280 } from '../support/run-verify.ts';
import { recordEvents } from '../../internal/store/record-events.ts';
import { macKey, publicLogKey, seal, servedBy, withLeaves } from '../support/sealed-ledger.ts';
import { writeExport, writeServed } from '../support/served-export.ts';
import { sql } from '../../internal/store/sql.ts';
import { eachDatabase } from '../support/store.ts';
import { testFiles } from '../support/test-files.ts';
import { startWitness } from '../support/witness-server.ts';

const events = Array.from({ length: 280 }, (_, at) =>
  anEvent({ createdAt: Date.now() - 300 + at, description: `mark ${at}`, executionId: `run ${at % 7}` }),
);
const first = events[100]?.id ?? '';

/** The paths of the files that this process has open. */
async function openFiles(): Promise<string[]> {
  const open = await readdir('/proc/self/fd');
  return Promise.all(open.map((descriptor) => readlink(`/proc/self/fd/${descriptor}`).catch(() => '')));
}

describe('verify without the database', () => {
  const database = eachDatabase();
  const files = testFiles();
  beforeEach(() => seal280(database.db, events));

  const verify = (...args: string[]): Promise<AdminRun> => runVerify('', args);

  it('says which arguments are wrong', async () => {
    const key = ['--public-key', publicLogKey];
    const whole = [...key, '--organization', 'acme'];
    for (const [args, message] of [
      [['--organization', 'acme'], '--public-key is required'],
      [key, '--organization is required'],
      [[...whole, '--log', 'x', '--proof', 'y'], '--log and --proof exclude each other'],
      [[...whole, '--export', 'x'], '--export needs --log or --proof'],
      [[...whole, '--witness', 'x', '--log', 'y'], '--witness x is no public key of a witness'],
      [[...whole, '--log', 'https://console.example/v1/log'], '--log with a URL needs --read-token-file'],
      [[...whole, '--log', 'x', '--read-token-file', 'y'], '--read-token-file needs --log with a URL'],
      [[...whole, '--read-token-file', 'y'], '--read-token-file needs --log with a URL'],
      [
        [...whole, '--log', 'http://console.example/v1/log', '--read-token-file', 'y'],
        'http:// would send the token in clear: use https://',
      ],
      [[...whole, '--checkpoint', 'x', '--proof', 'y'], '--checkpoint and --proof exclude each other'],
      [[...whole, '--erasures', 'x', '--log', 'y'], '--erasures needs --export'],
      [[...whole, '--partial', '--export', 'x', '--proof', 'y'], '--partial needs --log and --export'],
      [[...whole, '--state', 'x', '--proof', 'y'], '--state and --proof exclude each other'],
      [[...whole, '--max-age', '2'], '--max-age needs --witness: only a witness proves a time'],
      [[...whole, '--quorum', '1'], '--quorum is more than there are of --witness'],
      [[...whole, '--retention-days', '0'], '--retention-days must be a whole number above 0'],
      [[...whole, '--retention-days', '9', '--log', 'x'], '--retention-days needs Postgres'],
    ] as const) {
      const { code, stderr } = await runAdmin(['verify', ...args]);
      expect(stderr).to.contain(`verify: ${message}`);
      expect(code).to.equal(2);
    }
  });

  it('checks an export and a proof', async () => {
    const { db } = database;
    const log = await servedBy(db, [first]);
    for (const [path, content] of log) await files.write(`log/${path}`, content);
    const rows = await db.selectFrom('events').selectAll().where('organization', '=', 'acme').orderBy('id').execute();
    const lines = rows.map((row) => String(exportFormats.ndjson.begin(false).add([provenEventOf(row)])));
    const offline = async (exported: string[], ...more: string[]) =>
      verify('--log', files.path('log'), '--export', await files.write('export', exported.join('')), ...more);

    const all = await files.write('all', lines.join(''));
    const times = (from: number, to: number): string =>
      `${new Date(events[from]?.createdAt ?? 0).toISOString()} and ${new Date(events[to]?.createdAt ?? 0).toISOString()}`;
    expect(await offline(lines)).to.deep.equal({
      code: 2,
      stdout:
        `Not everything could be checked.\nThe export has no manifest, so it is complete between ${times(0, 279)} only: ` +
        'events before and after may be missing.\nWhat was checked was not changed: 280 events of acme and 1 checkpoint ' +
        'match the log, which has 280 leaves.\n',
      stderr: '',
    });
    const part = await offline(lines.slice(5, 9), '--partial');
    expect(part.stdout).to.match(/: 4 events of acme [^]*\nLeaves of events that the export lacks: 276\.\n$/);
    const lost = await offline(lines.toSpliced(100, 1));
    expect(findingsOf(lost)).to.equal(
      `Event ${first} is in the log, and not in the record: it was removed.\n` +
        `The export has no manifest, so it is complete between ${times(0, 279)} only: events before and after may be missing.\n`,
    );
    expect(await offline(lines.toSpliced(100, 1), '--partial')).to.deep.include({ code: 0 });
    expect(findingsOf(await offline([...lines, lines[100] ?? ''], '--partial'))).to.equal(
      `Event ${first} is in the record twice: it was added.\n`,
    );
    expect((await offline(lines.with(9, lines[9]?.replace('{', '{"approved_by":"eve",') ?? ''))).stderr).to.match(
      /^verify: A line of the export has approved_by, which no event has: /,
    );
    for (const id of ['x', anEvent().id]) {
      const { code, stdout } = await offline([...lines, (lines[100] ?? '').replace(first, id)], '--partial');
      expect(stdout).to.match(
        /^Not everything could be checked\.\nEvents that have no leaf yet, so that nothing proves them: 1\.\n/,
      );
      expect(code).to.equal(2);
    }
    const changed = await offline(lines.with(100, lines[100]?.replace('mark', 'Mark') ?? ''), '--partial');
    expect(findingsOf(changed)).to.equal(`Event ${first} is not the one that the log has: it was changed.\n`);
    expect(await offline([])).to.deep.equal({
      code: 2,
      stdout: 'Nothing could be checked.\n',
      stderr: 'verify: The export has no event.\n',
    });
    expect((await verify('--log', files.path('log'))).stdout).to.equal(
      'Nothing was lost, added or changed: the log of acme has 280 leaves, and extends 1 checkpoint. No event was compared.\n',
    );
    await rm(files.path('log/tile/entries/000'));
    const missing = await verify('--log', files.path('log'), '--export', files.path('missing'));
    expect(missing.stderr).to.match(/^verify: ENOENT: no such file .*missing'\n$/);
    expect(await offline(lines)).to.deep.include({
      code: 2,
      stderr:
        'verify: The log has no readable tile/entries/000.\n' +
        `Cause: ENOENT: no such file or directory, open '${files.path('log/tile/entries/000')}'\n`,
    });
    expect((await verify('--log', files.path('nowhere'))).stderr).to.match(
      /^verify: The folder \S+nowhere has no checkpoint\.\nCause: ENOENT: .*\n$/,
    );
    expect((await verify('--proof', all)).stderr).to.equal(`verify: ${all} is no proof of a log.\n`);
    await files.write('foreign/checkpoint', 'Welcome\n');
    expect((await verify('--log', files.path('foreign'))).stderr).to.equal(
      'verify: This is no checkpoint of the log of acme.\nCause: this is no signed note\n',
    );

    const proof = files.path(`log/proof/${first}`);
    expect(await verify('--proof', proof)).to.deep.include({
      code: 0,
      stdout: `Nothing was lost, added or changed: event ${first} is leaf 240 of the 280 that the checkpoint signed.\n`,
    });
    expect(await verify('--proof', proof, '--export', all)).to.deep.include({
      code: 0,
      stdout: `Nothing was lost, added or changed: event ${first} is leaf 240 of the 280 that the checkpoint signed, and ${all} has it unchanged.\n`,
    });
    const long = await files.write('long', lines.join('').repeat(20));
    expect(await verify('--proof', proof, '--export', long)).to.deep.include({ code: 0 });
    expect(await openFiles()).to.not.include(long);
    const other = await files.write('other', lines[100]?.replace('mark', 'Mark') ?? '');
    expect(await verify('--proof', proof, '--export', other)).to.deep.include({ code: 1 });
    const none = await files.write('none', lines[99] ?? '');
    expect((await verify('--proof', proof, '--export', none)).stdout).to.match(
      new RegExp(`^Not everything could be checked\\.\\n${none} does not have event ${first}\\.\\nWhat was checked`),
    );
  });

  it('finds no change in an export of any text in each format, and finds each cut', async () => {
    const { db } = database;
    const marks = ['\ufeff', '\u2028', '\u2029', '\u0085', "'=1", '=1', '"', ',', '\r\n', '\t', '\\'];
    const at = events[0]?.createdAt ?? 0;
    const texts = marks.flatMap((mark) => [mark, `${mark}a`, `a${mark}`, `${mark}${mark}\n${mark}`]);
    await recordEvents(
      db,
      texts.map((description, index) => anEvent({ createdAt: at + 300 + index, description, errorId: description })),
      withLeaves,
    );
    await seal(db);
    const acts = new ManifestActs(db, macKey);
    for (const format of formatNames) {
      const file = await writeExport(db, files, { at, format, acts, name: format });
      await seal(db);
      const log = ['--log', await writeServed(db, files, `log-${format}`)];
      const whole = await verify(...log, '--export', file);
      expect(whole.stdout + whole.stderr).to.match(/^Nothing was lost, added or changed: 324 events of acme/);
      expect(whole.code).to.equal(0);
      if (format === 'parquet') continue;

      const [content, manifest] = [await readFile(file, 'utf8'), await readFile(`${file}.manifest.json`, 'utf8')];
      const end = format === 'csv' ? '\r\n' : '\n';
      const [head, body] = format === 'csv' ? [content.slice(0, content.indexOf(end) + 2), content] : ['', content];
      const lines = body.slice(head.length).split(end).slice(0, 270);
      const rest = body.slice(head.length).split(end).slice(270).join(end);
      const idsOf = (text: string): string[] =>
        text
          .slice(head.length)
          .split(end)
          .map(idOf)
          .filter((id) => id !== '');
      const cuts = {
        first: lines.slice(1),
        last: lines.slice(0, -1),
        all: lines.slice(0, 1),
        one: lines.toSpliced(9, 1),
      };
      for (const [cut, left] of Object.entries(cuts)) {
        const bytes = Buffer.from(`${head}${left.join(end)}${end}${cut === 'all' || cut === 'last' ? '' : rest}`);
        const changed = await files.write(`${format}-${cut}`, bytes);
        await files.write(`${format}-${cut}.manifest.json`, manifest);
        const withManifest = findingsOf(await verify(...log, '--export', changed));
        expect(withManifest).to.match(
          /^\S+ has not the SHA-256 of its manifest: it was changed\.\nEvent \S+ is in the log/,
        );
        // Whoever cuts an export can write another manifest.
        const sha256 = createHash('sha256').update(bytes).digest('hex');
        await files.write(
          `${format}-${cut}.manifest.json`,
          manifest.replace(/"sha256": "[^"]+"/, `"sha256": "${sha256}"`),
        );
        expect(findingsOf(await verify(...log, '--export', changed))).to.match(
          /^\S+ is not the manifest that the log has: it was changed\.\nEvent \S+ is in the log/,
        );
        await rm(`${changed}.manifest.json`);
        const { code, stdout } = await verify(...log, '--export', changed);
        expect(stdout).to.match(/The export has no manifest, so it is complete between \S+Z and \S+Z only/);
        expect(code).to.equal(isWithin(idsOf(content), idsOf(bytes.toString())) ? 1 : 2);
      }
    }
  });

  it('finds a day that was removed from the archive, or rewritten', async () => {
    const { db } = database;
    const at = events[0]?.createdAt ?? 0;
    const acts = new ManifestActs(db, macKey);
    const file = await writeExport(db, files, { at, acts, name: 'kept' });
    await seal(db);
    const check = async (): Promise<AdminRun> =>
      verify('--log', await writeServed(db, files, 'log-of-archive'), '--archive', files.path('kept'));
    const [content, manifest] = [await readFile(file), await readFile(`${file}.manifest.json`, 'utf8')];
    const write = async (bytes: Buffer | string, text: string): Promise<void> => {
      await writeFile(file, bytes);
      await writeFile(`${file}.manifest.json`, text);
    };
    const whole = await check();
    expect(whole.stdout).to.match(/^Nothing was lost[^]*\nThe archive has 1 object that the log knows, unchanged\.\n$/);
    await write('', manifest);
    expect(findingsOf(await check())).to.match(/^\S+ has not the SHA-256 of its manifest: it was changed\.\n$/);
    await write(content, manifest.replace('"rows": 280', '"rows": 279'));
    expect(findingsOf(await check())).to.match(/^\S+ is not the one that the log has: it was changed\.\n$/);
    await write(content, manifest);
    await rm(file);
    expect(findingsOf(await check())).to.match(/^The archive lacks \S+\.ndjson, of which the log has the manifest/);
    await rm(`${file}.manifest.json`);
    expect(findingsOf(await check())).to.match(
      /^The archive lacks \S+\.manifest\.json, which the log has: it was removed/,
    );
    expect(findingsOf(await runVerify(database.url, ['--archive', files.path('kept')]))).to.contain(
      'The archive lacks',
    );
    // A later object has the whole day.
    const erased = { organization: 'acme', day: dayOf(at) };
    const objects = await openObjects(files.path('kept'));
    await exportDay(
      { record: createQueries(db), objects, format: 'ndjson', acts, changes: { erasedTexts: 0, sealings: 0 } },
      erased,
      2,
    );
    await seal(db);
    expect(await check()).to.deep.include({ code: 0 });
    await write(content, manifest);
    await sql`delete from log_acts`.execute(db);
    await rm(files.path('log-of-archive'), { recursive: true });
    expect(findingsOf(await check())).to.match(/^The act \S+ is in the log, and its text is missing\.\n/);
  });

  it('finds that a checkpoint was changed, or a cosignature', async () => {
    const log = await servedBy(database.db, [first]);
    await using witness = await startWitness();
    const checkpoint = String(log.get('checkpoint'));
    witness.lies = true;
    const proof = `${String(log.get(`proof/${first}`))}${await witness.cosign(checkpoint)}`;
    for (const [path, content] of log) await files.write(`changed/${path}`, content);
    await files.write('changed/checkpoint', checkpoint.replace('280', '279'));
    const wrong = 'A checkpoint was changed after it was signed: the signature of log.example.org/acme is wrong.\n';
    const forged = await files.write('forged', proof.replace('\n280\n', '\n279\n'));
    expect(findingsOf(await verify('--log', files.path('changed')))).to.equal(wrong);
    expect(findingsOf(await verify('--proof', forged))).to.equal(wrong);

    const cosigned = await files.write('cosigned', proof);
    expect(findingsOf(await verify('--proof', cosigned, '--witness', witness.publicKey))).to.equal(
      'A checkpoint was changed after it was signed: the cosignature of witness.example is wrong.\n',
    );
  });

  it('accepts an event that differs from its proof if an erasure explains it', async () => {
    const { db } = database;
    const proof = await files.write('older', String((await servedBy(db, [first])).get(`proof/${first}`)));
    const rows = await db
      .selectFrom('events')
      .selectAll()
      .where('id', 'in', [first, events[99]?.id ?? ''])
      .execute();
    const lines = rows.map((row) => String(exportFormats.ndjson.begin(false).add([provenEventOf(row)])));
    const without = await files.write('without', lines.join('').replaceAll(/"description":"[^"]*",?/g, ''));
    const absent = await files.write('absent', lines.filter((line) => !line.includes(first)).join(''));
    const erasure = (id: string, scope: 'text' | 'execution', organization = 'acme'): string => {
      const told = { organization, erased_at: new Date('2026-11-21T10:00:00Z'), erased_by: 'ana', reason: 'ticket 7' };
      return writeErasure({ ...told, id: first, scope, automation_id: null, event_ids: joinIds([id]) });
    };
    const check = async (exported: string, ...erasures: string[]) => {
      const records = await files.write('erasures', erasures.join('\n'));
      return verify('--proof', proof, '--export', exported, '--erasures', records);
    };

    const cannot = 'Not everything could be checked.\n';
    const sealed = `What was checked was not changed: event ${first} is leaf 240 of the 280 that the checkpoint signed.\n`;
    expect(await check(without, erasure(first, 'text'))).to.deep.equal({
      code: 2,
      stdout:
        `${cannot}${without} has another version of event ${first}: ana erased its texts at 2026-11-21T10:00:00.000Z: ticket 7.\n` +
        `To check this version and the erasure, use --log in place of --proof.\n${sealed}`,
      stderr: '',
    });
    expect((await check(absent, erasure(first, 'execution'))).stdout).to.equal(
      `${cannot}${absent} does not have event ${first}: ana erased it at 2026-11-21T10:00:00.000Z: ticket 7.\n${sealed}`,
    );
    const changed = `Event ${first} is not the one of the proof: it was changed.`;
    const others = [
      erasure(events[99]?.id ?? '', 'text'),
      erasure(first, 'execution'),
      erasure(first, 'text', 'globex'),
    ];
    expect(findingsOf(await check(without, ...others))).to.equal(`${changed}\n`);
    expect(findingsOf(await verify('--proof', proof, '--export', without))).to.equal(
      `${changed} If \`erase\` removed its texts, add --erasures.\n`,
    );
  });
});

/** The id of the event of a line, which is its first UUID. */
function idOf(line: string): string {
  return /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(line)?.[0] ?? '';
}

/** True if an event that was cut out came between the first and the last of those that are left. */
function isWithin(all: readonly string[], left: readonly string[]): boolean {
  const sorted = left.toSorted();
  const [first = '', last = ''] = [sorted[0], sorted.at(-1)];
  return all.some((id) => id > first && id < last && !left.includes(id));
}
