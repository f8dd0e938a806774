import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { AcceptedEvent } from '../../internal/event/event.ts';
import type { Database } from '../../internal/store/database.ts';
import { recordEvents } from '../../internal/store/record-events.ts';
import { Child } from '../support/child.ts';
import { compactAll, countPlaces, expectRight } from '../support/compacted.ts';
import { anEvent } from '../support/events.ts';
import { temporaryFolder } from '../support/export.ts';
import { Random, seedOfRun } from '../support/fault/random.ts';
import { day } from '../support/maintenance-day.ts';
import { PostgresServer } from '../support/postgres-server.ts';
import { migrate, openDatabase, storedEvents } from '../support/store.ts';

/** POINTS=100 is the whole: about three minutes on a machine of two cores. */
const points = Number(process.env['POINTS'] ?? 8);

const script = join(import.meta.dirname, '../support/cool-days.ts');
const [runs, automations] = [400, 4];
const hour = 3_600_000;

describe('executions that are compacted or become rows, while processes are killed', function () {
  this.timeout(120_000 + points * 30_000);
  const seed = seedOfRun();
  const random = new Random(seed);
  const stack = new AsyncDisposableStack();
  const oldest = Date.now() - 18 * day;
  let url: string;
  let db: Database;
  let file: string;
  before(async () => {
    const postgres = stack.adopt(await PostgresServer.start(), (server) => server.stop());
    file = join(stack.use(await temporaryFolder()).path, 'late.json');
    url = postgres.url();
    await migrate(url);
    db = openDatabase(url);
    stack.defer(() => db.destroy());
    // The connection belongs to no test.
    await storedEvents(db);
  });
  after(() => stack.disposeAsync());

  const begin = async (what: 'compact' | 'late'): Promise<Child> => {
    const child = new Child(process.execPath, [script, what, url, file]);
    await child.line(/^begun$/);
    return child;
  };

  /** The duration of a run that nobody kills, in ms. */
  async function durationOf(what: 'compact' | 'late'): Promise<number> {
    const child = await begin(what);
    const begun = performance.now();
    expect(await child.exited, child.output.join('\n')).to.equal(0);
    return performance.now() - begun;
  }

  /** Of one moment: Postgres may still complete what the killed process began. */
  const expectRightNow = (): Promise<void> =>
    db
      .transaction()
      .setIsolationLevel('repeatable read')
      .execute(async (trx) => expectRight(trx, await storedEvents(trx)));

  const eventOf = (run: number, kind: AcceptedEvent['kind'], minutes: number): AcceptedEvent =>
    anEvent({
      kind,
      automationId: `0190a0b0-0000-7000-8000-00000000000${run % automations}`,
      executionId: `run ${run}`,
      occurredAt: oldest + run * hour + minutes * 60_000,
    });

  /** Batches of late events of some runs, some of which begin before their neighbors then. */
  const lateBatches = (): AcceptedEvent[][] =>
    Array.from({ length: 20 }, () =>
      Array.from({ length: 5 }, () => eventOf(random.int(0, runs - 1), 'WARNING', random.int(-10 * 60, 10 * 60))),
    );

  it(`${points} times: each is in one place, as its events say, SEED=${seed}`, async () => {
    const all = Array.from({ length: runs }, (_, run) => [eventOf(run, 'START', 0), eventOf(run, 'END', 30)]).flat();
    await recordEvents(db, all);
    const took = { compact: await durationOf('compact'), late: 0 };
    const struck = { compact: 0, late: 0 };
    for (let turn = 0; turn <= points; turn += 1) {
      const batches = lateBatches();
      all.push(...batches.flat());
      await writeFile(file, JSON.stringify(batches));
      const compacted = await countPlaces(db);
      // The first turn kills nothing: it tells how long the worker takes.
      if (turn === 0) took.late = await durationOf('late');
      else {
        const what = turn % 3 === 0 ? 'compact' : 'late';
        const both = await Promise.all([begin(what), ...(turn % 3 === 2 ? [begin('compact')] : [])]);
        await sleep(random.int(0, took[what]));
        await Promise.all(both.map((child) => child.kill('SIGKILL')));
        struck[what] += Number((await countPlaces(db)).compacted !== compacted.compacted);
      }
      await expectRightNow();
      for (const batch of batches) await recordEvents(db, batch);
      await expectRightNow();
      if (turn % 3 !== 2) await compactAll(db);
    }
    expect(await storedEvents(db)).to.have.lengthOf(all.length);
    await compactAll(db);
    await expectRight(db, all);
    expect((await countPlaces(db)).compacted).to.be.above(runs / 2);
    console.log(`      struck while executions moved: compaction ${struck.compact}, worker ${struck.late}`);
  });
});
