import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { sql } from 'kysely';
import { keepDeadLetter } from '../../../internal/store/dead-letters.ts';
import { sealOlder } from '../../../internal/store/ledger/seal-older.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { compactAll, everyRow } from '../../support/compacted.ts';
import { anEvent } from '../../support/events.ts';
import { failureOf } from '../../support/failure.ts';
import { executionsOf } from '../../support/outcome-oracle.ts';
import {
  deleteExecutions,
  eachDatabase,
  executionOf,
  storedEvents,
  storedExecutions,
  wrongRunning,
} from '../../support/store.ts';
import { macKey, withLeaves } from '../../support/sealed-ledger.ts';

/** The statements of a document that can be pasted. */
async function statementsOf(document: string): Promise<string[]> {
  const text = await readFile(new URL(`../../../${document}`, import.meta.url), 'utf8');
  const blocks = [...text.matchAll(/^ *```sql\n([^]*?)^ *```/gm)].map(([, block = '']) => block);
  return blocks.flatMap((block) => block.split(';')).filter((statement) => statement.trim() !== '');
}

describe('queries in documents', () => {
  const database = eachDatabase();

  const rowsOf = async (statement: string): Promise<unknown[]> => (await sql.raw(statement).execute(database.db)).rows;

  it('of the page on SQL find what failed today, a history, and executions that disagree with their events', async () => {
    const { db } = database;
    const { automationId } = anEvent();
    // Ahead of the clock: today also when midnight comes meanwhile.
    const [today, dayBefore] = [Date.now() + 3_600_000, Date.now() - 25 * 3_600_000];
    const [failed = '', history = '', disagreeing = '', ...others] = await statementsOf('docs/read/sql.md');
    expect(others).to.deep.equal([]);
    const kinds = ['START', 'ERROR', 'END'] as const;
    await recordEvents(
      db,
      kinds.map((kind) => anEvent({ kind, createdAt: today })),
    );
    await recordEvents(db, [anEvent({ kind: 'ERROR', executionId: 'before', createdAt: dayBefore })]);
    expect(await rowsOf(failed)).to.deep.equal([{ automation_id: automationId, count: '1' }]);
    const executionId = "execution_id = '2026-11-21T10:37:00Z'";
    expect(history).to.include(executionId);
    const ofIt = history
      .replace(executionId, `execution_id = '${anEvent().executionId}'`)
      .replace(/automation_id = '[^']+'/, `automation_id = '${automationId}'`);
    expect(await rowsOf(ofIt)).to.have.length(3);
    expect(await rowsOf(disagreeing)).to.deep.equal([]);
    await sql`delete from events where kind = 'ERROR' and execution_id <> 'before'`.execute(db);
    expect(await rowsOf(disagreeing)).to.have.length(1);
    await sql`delete from events`.execute(db);
    expect(await rowsOf(disagreeing)).to.have.length(2);
  });

  it('of a runbook say whether the console can take its role, and read with it', async () => {
    const [query = ''] = await statementsOf('docs/operate/runbooks/RunledgerReaderRoleMissing.md');
    const before16 = query.replace("'SET')", "'MEMBER')");
    expect(await rowsOf(before16)).to.deep.equal([{ may_take_it: true, may_read: true, policies: '5' }]);
  });

  it('of the runbook store no dead letter whose execution is compacted, until an event makes that a row', async () => {
    const { db } = database;
    const [, store = '', over = ''] = await statementsOf('docs/operate/runbooks/RunledgerDeadLetters.md');
    const at = Date.now() - 1_000;
    const kinds = ['START', 'END'] as const;
    const events = kinds.flatMap((kind) =>
      [1, 2, 3, 4].map((run) => anEvent({ kind, executionId: `run ${run}`, createdAt: at + run })),
    );
    await recordEvents(db, events);
    await compactAll(db);
    const refused = anEvent({ kind: 'WARNING', executionId: 'run 2' });
    await keepDeadLetter(db, { ...refused, seal: '\0'.repeat(32) }, 'why');
    const restore = store.replace('<id>', refused.id);
    expect(String(await failureOf(rowsOf(restore)))).to.include('an execution is compacted');
    const registered = anEvent({ executionId: 'run 2' });
    await recordEvents(db, [registered]);
    await rowsOf(restore);
    await rowsOf(over);
    const all = [...executionsOf([...events, registered, refused]).values()];
    expect((await everyRow(db)).map(executionOf)).to.have.deep.members(all);
    expect(await wrongRunning(db)).to.deep.equal([]);
  });

  it('of the runbook store a dead letter as if it had not been refused', async () => {
    const { db } = database;
    const [list = '', store = '', over = ''] = await statementsOf('docs/operate/runbooks/RunledgerDeadLetters.md');
    const kinds = ['START', 'WARNING', 'ERROR', 'END', 'EVENT'] as const;
    const now = Date.now();
    const events = kinds.map((kind, index) => ({
      ...anEvent({ kind, createdAt: now + index, automationId: anEvent().automationId.toUpperCase() }),
      ...(index % 2 === 0 && { occurredAt: now - 10_000 + index }),
    }));
    await recordEvents(db, events);
    const whole = [await storedEvents(db), await storedExecutions(db)];
    for (const refused of events) {
      await sql`delete from events`.execute(db);
      await deleteExecutions(db);
      await sql`delete from log_segments`.execute(db);
      await recordEvents(
        db,
        events.filter((event) => event !== refused),
        withLeaves,
      );
      await keepDeadLetter(db, { ...refused, seal: '\0'.repeat(32) }, 'why');
      expect(await rowsOf(list)).to.have.length(1);
      await rowsOf(store.replace('<id>', refused.id));
      await rowsOf(over);
      expect([await storedEvents(db), await storedExecutions(db)]).to.deep.equal(whole);
      expect(await wrongRunning(db)).to.deep.equal([]);
      expect(await rowsOf(list)).to.deep.equal([]);
      const step = { organization: 'acme', by: 'ana', reason: 'restored', most: 100, pageSize: 100 };
      expect(await sealOlder(db, macKey, step)).to.include({ added: 1 });
    }
  });
});
