import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { sql } from 'kysely';
import { macKeyText } from '../../internal/ledger/mac.ts';
import { Acts } from '../../internal/store/acts/acts.ts';
import { eraseTraces } from '../../internal/store/erase/erase-traces.ts';
import { eraseEvents } from '../../internal/store/erase/erase.ts';
import { withMaintenanceLock } from '../../internal/store/partitions/with-maintenance-lock.ts';
import { recordEvents } from '../../internal/store/record-events.ts';
import { runAdmin } from '../support/admin.ts';
import { makeCold } from '../support/cold-days.ts';
import { compactAll, countPlaces, everyRow, smallBlocks } from '../support/compacted.ts';
import { anEvent } from '../support/events.ts';
import { temporaryFolder } from '../support/export.ts';
import { day } from '../support/maintenance-day.ts';
import { macKey, publicLogKey, seal, withLeaves } from '../support/sealed-ledger.ts';
import { eachDatabase } from '../support/store.ts';
import { until } from '../support/until.ts';

const { automationId } = anEvent();
/** Seven executions that have ended, each of two events. Some ids are UUIDs. */
const idOf = (at: number): string => (at === 2 ? '0190a0b0-0000-7000-8000-000000000abc' : `run ${at}`);
const eventsSince = (began: number) =>
  Array.from({ length: 14 }, (_, at) =>
    anEvent({
      createdAt: began + at,
      executionId: idOf(at % 7),
      kind: at < 7 ? 'START' : 'END',
      description: `mark ${at}`,
    }),
  );

describe('erase of compacted executions', function suite() {
  this.timeout(60_000);
  const database = eachDatabase();
  const run = (command: string, args: string[], env: NodeJS.ProcessEnv = {}) =>
    runAdmin([command, '--organization', 'acme', ...args], {
      env: { DATABASE_URL: database.url, LEDGER_MAC_KEY: macKeyText(macKey), ...env },
    });
  const erase = (...args: string[]) => run('erase', ['--by', 'ana', '--reason', 'ticket 7', ...args]);
  const executionOf = (at: number) => ['--automation', automationId.toUpperCase(), '--execution', idOf(at)];
  const store = async (): Promise<void> => {
    await recordEvents(database.db, eventsSince(Date.now() - 1_000), withLeaves);
    await seal(database.db);
    await compactAll(database.db);
    expect(await countPlaces(database.db)).to.deep.equal({ rows: 1, compacted: 6, keys: 6 });
  };
  const expectWhole = async (...args: string[]): Promise<void> => {
    await seal(database.db);
    const { code, stdout } = await run('verify', ['--public-key', publicLogKey, ...args]);
    expect(stdout).to.match(/^Nothing was lost/);
    expect(code).to.equal(0);
  };

  it('takes one of a block, and the others stay as they were; then all', async () => {
    const { db } = database;
    await store();
    const before = await everyRow(db);
    expect((await erase(...executionOf(2))).stderr).to.match(/^Would erase 2 events, 1 execution and 0 dead letters/);
    expect((await erase(...executionOf(2), '--yes')).code).to.equal(0);
    expect(await everyRow(db)).to.deep.equal(before.filter((one) => one.execution_id !== idOf(2)));
    expect(await countPlaces(db)).to.deep.equal({ rows: 3, compacted: 3, keys: 3 });
    await expectWhole();
    await compactAll(db);
    expect((await erase('--all')).stderr).to.match(/^Would erase 12 events, 6 executions and 0 dead letters/);
    expect((await erase('--all', '--yes')).code).to.equal(0);
    expect(await countPlaces(db)).to.deep.equal({ rows: 0, compacted: 0, keys: 0 });
    await expectWhole();
  });

  it('computes one from the events that are left', async () => {
    const { db } = database;
    await store();
    await sql`update events set created_at = now() + interval '1 hour'
      where execution_id = 'run 1' and kind = 'START'`.execute(db);
    expect((await erase('--automation', automationId, '--yes')).code).to.equal(0);
    const [left, ...others] = await everyRow(db);
    expect(others).to.deep.equal([]);
    expect(left).to.include({ execution_id: 'run 1', state: 'running', start_count: 1, end_count: 0 });
  });

  it('takes those whose events retention has dropped, and of these only the ones asked for', async () => {
    const { db } = database;
    await store();
    const before = await everyRow(db);
    await sql`delete from events`.execute(db);
    for (const asked of [[], ['--yes']]) {
      const { stderr } = await erase(...executionOf(3), ...asked);
      expect(stderr).to.match(/^(?:Would erase|Erasing) 0 events, 1 execution and 0 dead letters/);
    }
    expect(await everyRow(db)).to.deep.equal(before.filter((one) => one.execution_id !== idOf(3)));
    const other = ['--automation', '0190a0b0-0000-7000-8000-00000000000f', '--yes'];
    expect((await erase(...other)).stderr).to.match(/^acme has no such events/);
    await compactAll(db);
    expect((await erase('--automation', automationId, '--yes')).stderr).to.match(/^Erasing 0 events, 6 executions/);
    expect(await countPlaces(db)).to.deep.equal({ rows: 0, compacted: 0, keys: 0 });
  });

  it('keeps what owners wrote about those that stay, and takes it with those that go', async () => {
    const { db } = database;
    await store();
    const acts = new Acts(() => db);
    const ids = [anEvent().id, anEvent().id];
    for (const [at, id] of ids.entries()) {
      const note = { organization: 'acme', id, by: 'Olga', note: 'Ticket 7', kind: 'note' as const, automationId };
      expect(await acts.add({ ...note, executionId: idOf(at) })).to.equal(true);
    }
    await sql`delete from events where execution_id = 'run 0'`.execute(db);
    await eraseTraces(db, { organization: 'acme', automationId, before: new Date(0), by: 'ana', reason: 'x' });
    const left = await db.selectFrom('acts').select('id').execute();
    expect(left.map(({ id }) => id)).to.deep.equal([ids[1]]);
    const rest = (await everyRow(db)).map((one) => one.execution_id);
    expect([rest.length, rest.includes('run 0')]).to.deep.equal([6, false]);
  });

  it('leaves them as they are if a text is erased, and counts those that have it in their ids', async () => {
    const { db } = database;
    await store();
    const before = await everyRow(db);
    const named = (count: number) => `${count} executions or dead letters have the text in their ids, and stay`;
    expect((await erase('--text', 'RUN')).stderr).to.include(named(6));
    expect((await erase('--text', '8000-000000000ABC')).stderr).to.include(named(1));
    expect((await erase('--text', 'mark 1', '--yes')).code).to.equal(0);
    expect(await everyRow(db)).to.deep.equal(before);
    expect(await countPlaces(db)).to.deep.equal({ rows: 1, compacted: 6, keys: 6 });
    await expectWhole();
  });

  it('waits for a compaction, and keeps the next one waiting', async () => {
    const { db } = database;
    await store();
    const scope = { organization: 'acme', automationId, before: new Date(), by: 'ana', reason: 'x', macKey };
    const waiting = sql`select from pg_locks join pg_stat_activity using (pid)
      where locktype = 'advisory' and not granted and datname = current_database()`;
    for (const step of [() => eraseEvents(db, scope, 3).next(), () => eraseTraces(db, scope)]) {
      let erasing: Promise<unknown> = Promise.resolve();
      await withMaintenanceLock(db, async () => {
        erasing = step();
        await until('it waits', async () => (await waiting.execute(db)).rows.length === 1);
      });
      await erasing;
    }
  });

  it('takes one whose events are in the archive only', async () => {
    const { db, url } = database;
    await using folder = await temporaryFolder();
    await recordEvents(db, eventsSince(Date.now() - 8 * day), withLeaves);
    await recordEvents(db, [anEvent({ executionId: 'newest', kind: 'END' })], withLeaves);
    await seal(db);
    await makeCold({ db, url, compaction: smallBlocks }, folder.path, { LEDGER_MAC_KEY: macKeyText(macKey) });
    expect(await countPlaces(db)).to.deep.equal({ rows: 2, compacted: 6, keys: 6 });
    expect(await db.selectFrom('events').select('execution_id').execute()).to.have.lengthOf(1);
    await expectWhole('--archive', folder.path);
    const before = await everyRow(db);
    const env = { ARCHIVE_URL: pathToFileURL(folder.path).href };
    const args = ['--by', 'ana', '--reason', 'ticket 7', ...executionOf(2), '--yes'];
    const { code, stderr } = await run('erase', args, env);
    expect(stderr).to.include('Erasing 2 events, 1 execution and 0 dead letters.');
    expect(code).to.equal(0);
    expect(await everyRow(db)).to.deep.equal(before.filter((one) => one.execution_id !== idOf(2)));
    await expectWhole();
  });
});
