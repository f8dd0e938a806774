import { expect } from 'chai';
import { sql } from 'kysely';
import { readAct } from '../../internal/ledger/act.ts';
import { leafOfAct } from '../../internal/ledger/act.ts';
import { extendLedgers } from '../../internal/store/ledger/extend-ledgers.ts';
import { keepDeadLetter } from '../../internal/store/dead-letters.ts';
import { findLeaf } from '../../internal/store/ledger/find-leaf.ts';
import { maintain } from '../../internal/store/partitions/maintain.ts';
import { recordEvents } from '../../internal/store/record-events.ts';
import { runAdmin } from '../support/admin.ts';
import { anEvent } from '../support/events.ts';
import { runVerify } from '../support/run-verify.ts';
import { logKey, macKey, seal, withLeaves } from '../support/sealed-ledger.ts';
import { eachDatabase } from '../support/store.ts';

const day = 86_400_000;

describe('acts in the log', () => {
  const database = eachDatabase();

  /** The acts of acme without their ids and times, each with its leaf in the log. */
  async function actsOf(organization = 'acme'): Promise<object[]> {
    const { db } = database;
    await seal(db);
    const rows = await db.selectFrom('log_acts').selectAll().where('organization', '=', organization).execute();
    for (const { id, act } of rows) {
      expect((await findLeaf(db, organization, id))?.leaf).to.deep.equal(leafOfAct(id, act));
    }
    return rows.map(({ act }) => {
      const { kind, by, details } = readAct(act);
      const { sha256: _sha256, ...others } = details;
      return { kind, by, ...others };
    });
  }

  it('are dead letters that were kept, and deleted by an erasure', async () => {
    const { db, url } = database;
    const letter = anEvent({ createdAt: Date.now() - 1_000, description: 'of Jane' });
    expect(await keepDeadLetter(db, letter, '22P02: of Jane', macKey)).to.equal(true);
    expect(await keepDeadLetter(db, letter, '22P02: of Jane', macKey)).to.equal(false);
    await keepDeadLetter(db, { ...letter, id: 'of Jane' }, 'odd', macKey);
    const kept = [
      { kind: 'dead-letter-kept', by: 'worker', event: letter.id, code: '22P02' },
      { kind: 'dead-letter-kept', by: 'worker', event: 'no-uuid', code: 'unknown' },
    ];
    expect(await actsOf()).to.deep.equal(kept);
    const args = ['erase', '--organization', 'acme', '--by', 'ana', '--reason', 'ticket 7', '--text', 'JANE', '--yes'];
    const settings = { DATABASE_URL: url, LEDGER_KEY: logKey };
    expect((await runAdmin(args, { env: settings })).code).to.equal(0);
    const deleted = { kind: 'dead-letters-deleted', by: 'ana', letters: '2', events: `${letter.id} no-uuid` };
    expect(await actsOf()).to.deep.equal([...kept, deleted]);
  });

  it('are what a person allowed retention to drop, and the dead letters that went with it', async () => {
    const { db } = database;
    const now = Date.parse('2026-11-21T12:00:00Z');
    const old = Date.parse('2026-11-11T00:00:00Z');
    const events = [0, 1, 2, 3, 4].map((after) => anEvent({ createdAt: old + after * day }));
    await recordEvents(db, events, withLeaves);
    const letter = anEvent();
    await keepDeadLetter(db, letter, '22P02: x');
    await sql`update dead_letters set dead_at = ${new Date(old)}`.execute(db);
    await seal(db);
    const options = { now, daysAhead: 1, macKey };
    await maintain(db, { ...options, retentionDays: 0 });
    expect((await maintain(db, { ...options, retentionDays: 3 })).asks).to.include({ partitions: 5 });
    expect(await actsOf()).to.deep.equal([]);
    await sql`insert into retention_approvals (before, approved_by) values ('2026-11-16', 'ana')`.execute(db);
    expect((await maintain(db, { ...options, retentionDays: 3 })).dropped).to.have.lengthOf(5);
    expect(await actsOf()).to.deep.equal([
      { kind: 'retention-approved', by: 'ana', before: '2026-11-16', partitions: '5' },
      ...[12, 13, 14, 15, 16].map((date) => ({ kind: 'events-expired', by: 'retention', before: `2026-11-${date}` })),
      { kind: 'dead-letters-deleted', by: 'retention', letters: '1', events: letter.id },
    ]);
  });

  it('are events that a person sealed, and none that somebody inserted without a word', async () => {
    const { db, url } = database;
    const events = Array.from({ length: 3 }, (_, at) => anEvent({ createdAt: Date.now() - 100 + at }));
    const [first, inserted, last] = events;
    await recordEvents(db, first && last ? [first, last] : [], withLeaves);
    await seal(db);
    await recordEvents(db, inserted ? [inserted] : []);
    for (let round = 0; round < 2; round += 1) await extendLedgers(db, [macKey], 100);
    const { code, stdout } = await runVerify(url, []);
    expect(stdout).to.contain(`Event ${inserted?.id} is in the record, and not in the log: it was added.\n`);
    expect(code).to.equal(1);

    const command = async (args: string[], settings = {}): Promise<string> => {
      const env = { DATABASE_URL: url, LEDGER_KEY: logKey, ...settings };
      const { code, stdout, stderr } = await runAdmin(['seal', '--organization', 'acme', ...args], { env });
      return `${code} ${stdout}${stderr}`;
    };
    const who = ['--by', 'ana', '--reason', 'a worker without LEDGER_KEY'];
    expect(await command(who)).to.equal('0 1 events of acme have no leaf. Add --yes to seal them.\n');
    expect(await command([...who, '--yes'])).to.equal('0 1 events of acme got their leaves.\n');
    expect(await command([...who, '--yes'])).to.equal('0 0 events of acme got their leaves.\n');
    expect(await command([...who, '--yes'], { LEDGER_KEY: '' })).to.contain(
      '2 seal: LEDGER_MAC_KEY or LEDGER_KEY is required\n',
    );
    expect(await command(['--by', 'ana'])).to.contain('2 seal: --reason is required\n');
    const act = { first: inserted?.id, last: inserted?.id, events: '1', reason: 'a worker without LEDGER_KEY' };
    expect(await actsOf()).to.deep.equal([{ kind: 'older-events-sealed', by: 'ana', ...act }]);
    expect((await runVerify(url, [])).code).to.equal(0);
  });
});
