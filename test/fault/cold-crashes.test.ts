import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createQueries } from '../../internal/record/queries.ts';
import type { Database } from '../../internal/store/database.ts';
import { dayOf } from '../../internal/store/partitions/days.ts';
import { recordEvents } from '../../internal/store/record-events.ts';
import { Child } from '../support/child.ts';
import { withArchive } from '../support/cold-days.ts';
import { anEvent } from '../support/events.ts';
import { namesIn, temporaryFolder } from '../support/export.ts';
import { Random, seedOfRun } from '../support/fault/random.ts';
import { day } from '../support/maintenance-day.ts';
import { PostgresServer } from '../support/postgres-server.ts';
import { migrate, openDatabase, storedEvents, storedExecutions } from '../support/store.ts';

/** POINTS=100 is the whole: about ten minutes on a machine of two cores. */
const points = Number(process.env['POINTS'] ?? 4);

const organizations = ['acme', 'globex'];
const script = join(import.meta.dirname, '../support/cool-days.ts');

/** Each turn has two days of its own, and what earlier ones left. */
const daysOfTurn = 2;

describe('days that leave Postgres, while processes are killed', function () {
  this.timeout(120_000 + points * 60_000);
  const seed = seedOfRun();
  const random = new Random(seed);
  const stack = new AsyncDisposableStack();
  const newest = dayOf(Date.now()) - 8 * day;
  let postgres: PostgresServer;
  let db: Database;
  let folder: string;
  before(async () => {
    postgres = stack.adopt(await PostgresServer.start(), (server) => server.stop());
    folder = stack.use(await temporaryFolder()).path;
    await migrate(postgres.url());
    db = openDatabase(postgres.url());
    stack.defer(() => db.destroy());
  });
  after(() => stack.disposeAsync());

  const begin = async (what: 'cool' | 'read'): Promise<Child> => {
    const child = new Child(process.execPath, [script, what, postgres.url(), folder, ...organizations]);
    await child.line(/^begun$/);
    return child;
  };

  /** The duration of a run that nobody kills, in ms. */
  async function durationOf(what: 'cool' | 'read'): Promise<number> {
    const child = await begin(what);
    const begun = performance.now();
    expect(await child.exited, child.output.join('\n')).to.equal(0);
    return performance.now() - begun;
  }

  async function rowsOf(turn: number): Promise<unknown[]> {
    const record = createQueries(withArchive(db, folder));
    const from = new Date(newest - turn * daysOfTurn * day);
    const range = { from, to: new Date(from.getTime() + daysOfTurn * day) };
    const rows: unknown[] = [];
    for (const organization of organizations) {
      for await (const { items } of record.exportEvents(organization, range, { limit: 100 })) rows.push(...items);
    }
    return rows;
  }

  const eventsOf = (turn: number) =>
    Array.from({ length: 80 }, (_, at) =>
      anEvent({
        organization: organizations[at % 2] ?? '',
        createdAt: newest - turn * daysOfTurn * day + (at % 40 < 20 ? 0 : day) + at,
        executionId: `run ${turn} ${at % 8}`,
        description: `event ${at}`,
      }),
    );

  /** Where a kill met the days of a turn: objects were missing, rows were left, or all was done. */
  async function stageOf(written: number): Promise<string> {
    const objects = (await namesIn(folder)).filter((name) => name.endsWith('.manifest.json')).length - written;
    if (objects < organizations.length * daysOfTurn) return 'export';
    return (await storedEvents(db)).length > 0 ? 'retention' : 'end';
  }

  it(`${points} times: each event stays as it was and is counted once, SEED=${seed}`, async () => {
    const accepted = eventsOf(0);
    await recordEvents(db, accepted);
    const took = { cool: await durationOf('cool'), read: await durationOf('read') };
    const struck: string[] = [];
    for (let turn = 1; turn <= points; turn += 1) {
      const events = eventsOf(turn);
      await recordEvents(db, events);
      const stored = await rowsOf(turn);
      expect(stored).to.have.lengthOf(events.length);
      const written = (await namesIn(folder)).filter((name) => name.endsWith('.manifest.json')).length;
      const what = turn % 4 === 0 ? 'read' : 'cool';
      const child = await begin(what);
      await sleep(random.int(0, took[what]));
      await child.kill('SIGKILL');
      struck.push(what === 'read' ? 'reader' : await stageOf(written));
      expect(await rowsOf(turn), `after kill ${turn}`).to.deep.equal(stored);
      expect(await recordEvents(withArchive(db, folder), events)).to.include({ stored: 0 });
      accepted.push(...events);
    }
    await durationOf('cool');
    expect(await storedEvents(db)).to.deep.equal([]);
    for (let turn = 0; turn <= points; turn += 1) expect(await rowsOf(turn)).to.have.lengthOf(80);
    const counted = (await storedExecutions(db)).map(({ counts }) => counts.EVENT);
    expect(counted.reduce((sum, events) => sum + events, 0)).to.equal(accepted.length);
    console.log(
      `      struck: ${Object.entries(Object.groupBy(struck, (each) => each))
        .map(([each, all]) => `${each} ${all?.length}`)
        .join(', ')}`,
    );
  });
});
