import { expect } from 'chai';
import { keepDeadLetter } from '../../internal/store/dead-letters.ts';
import { eraseTraces } from '../../internal/store/erase/erase-traces.ts';
import { eraseEvents } from '../../internal/store/erase/erase.ts';
import { recordEvents } from '../../internal/store/record-events.ts';
import { sql } from '../../internal/store/sql.ts';
import { runAdmin } from '../support/admin.ts';
import { anEvent } from '../support/events.ts';
import { executionsOf } from '../support/outcome-oracle.ts';
import { runVerify } from '../support/run-verify.ts';
import { logKey, macKey, seal, withLeaves } from '../support/sealed-ledger.ts';
import { eachDatabase, storedEvents, storedExecutions, wrongRunning } from '../support/store.ts';
import { until } from '../support/until.ts';

/** Six executions of ten events, all of which have ended. */
const began = Date.now() - 10_000;
const events = Array.from({ length: 60 }, (_, at) =>
  anEvent({
    createdAt: began + at,
    executionId: `run ${at % 6}`,
    kind: at < 6 ? 'START' : at < 54 ? 'EVENT' : 'END',
  }),
);
const request = {
  organization: 'acme',
  before: new Date(),
  by: 'ana',
  reason: 'ticket 7',
  automationId: events[0]?.automationId,
  macKey,
};

/** One transaction of an erasure. */
async function eraseOnce(...args: Parameters<typeof eraseEvents>): Promise<void> {
  await eraseEvents(...args).next();
}

describe('erase while events come in', () => {
  const database = eachDatabase();
  beforeEach(async () => {
    await recordEvents(database.db, events, withLeaves);
    await seal(database.db);
  });

  /** Stores an event of an execution that has ended. */
  async function arrive(db = database.db): Promise<void> {
    await recordEvents(db, [anEvent({ executionId: 'run 3', description: 'arrived' })], withLeaves);
  }

  /** Erases all, 57 events at once. */
  async function erase(onOutput: () => void): Promise<number> {
    const env = { DATABASE_URL: database.url, LEDGER_KEY: logKey, TUNING: 'ERASE_BATCH_EVENTS=57' };
    const args = ['erase', '--organization', 'acme', '--by', 'ana', '--reason', 'ticket 7', '--all', '--yes'];
    return (await runAdmin(args, { env, onOutput })).code;
  }

  /** The record agrees with its log, and each execution with the events that are left. */
  async function isWhole(left: number): Promise<void> {
    const { db, url } = database;
    await seal(db);
    const { stdout, code } = await runVerify(url, []);
    expect(stdout).to.match(new RegExp(`^Nothing was lost, added or changed: ${left} events? of acme`));
    expect(code).to.equal(0);
    const given = executionsOf(await storedEvents(db));
    expect(await storedExecutions(db)).to.have.deep.members([...given.values()]);
    expect(await wrongRunning(db)).to.deep.equal([]);
  }

  it('keeps executions consistent with their events if one comes between two transactions', async () => {
    const { db } = database;
    await eraseOnce(db, { ...request, executionId: 'run 3' }, 10);
    await arrive();
    await isWhole(51);
    await eraseTraces(db, { ...request, executionId: 'run 3' });
    await isWhole(51);
    const [left] = await db.selectFrom('executions').selectAll().where('execution_id', '=', 'run 3').execute();
    expect(left).to.include({ state: 'running', start_count: 0, event_count: 1, end_count: 0 });
  });

  it('ends although events keep coming in: those accepted after its start stay', async () => {
    const { db } = database;
    const later = { executionId: 'run 3', createdAt: Date.now() + 60_000 };
    await recordEvents(db, [anEvent(later)], withLeaves);
    await keepDeadLetter(db, anEvent(later), '22P05');
    await keepDeadLetter(db, anEvent({ createdAt: began }), '22P05');
    for (const code of [0, 0]) expect(await erase(() => undefined)).to.equal(code);
    await isWhole(1);
    expect(await db.selectFrom('dead_letters').select('id').execute()).to.have.lengthOf(1);
  });

  it('keeps executions consistent with their events after each transaction', async () => {
    for (const left of [45, 30, 15, 0]) {
      await eraseOnce(database.db, request, 15);
      await isWhole(left);
    }
  });

  it('keeps executions consistent with their events if it is interrupted', async () => {
    const interrupted = await erase(() => {
      throw new Error('write EPIPE');
    });
    expect(interrupted).to.not.equal(0);
    await isWhole(3);
    expect(await erase(() => undefined)).to.equal(0);
    await isWhole(0);
  });

  /** Resolves when so many statements wait for a lock. */
  const waiting = (count: number): Promise<boolean> =>
    until(`${count} statements wait`, async () => {
      const waits = sql`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      return (await waits.execute(database.db)).rows.length === count;
    });

  it('waits for a worker that is storing an event of the execution', async () => {
    const { db } = database;
    const { erasing } = await db.transaction().execute(async (worker) => {
      await arrive(worker);
      const erasing = eraseOnce(db, { ...request, executionId: 'run 3' }, 100);
      await waiting(1);
      return { erasing };
    });
    await erasing;
    await isWhole(51);
  });

  it('blocks a worker that stores an event of the same execution', async () => {
    const { db } = database;
    const { erasing, arriving } = await db.transaction().execute(async (trx) => {
      // The record of an erasure is written last.
      await sql`lock table erasures in share mode`.execute(trx);
      const erasing = eraseOnce(db, { ...request, executionId: 'run 3' }, 100);
      await waiting(1);
      const arriving = arrive();
      await waiting(2);
      return { erasing, arriving };
    });
    await Promise.all([erasing, arriving]);
    await isWhole(51);
  });
});
